import Testing

struct EnumExpansionTests {
  @Test func `the cases of an enum get paths, and their payloads are changed in place`() {
    let expansion = Expansion(
      """
      @ObservableState
      enum Phase {
        case idle
        case live(Live)
      }
      """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == """
        enum Phase {
          case idle
          case live(Live)
          struct Cases: Sendable {
            var idle: Composable.CasePath<Phase, Void> {
              Composable.CasePath(tag: 0, name: "idle", embed: { _ in
                  .idle
                }, extract: { root in
                  if case .idle = root {
                    ()
                  } else {
                    nil
                  }
                })
            }
            var live: Composable.CasePath<Phase, Live> {
              Composable.CasePath(tag: 1, name: "live", embed: { value in
                  .live(value)
                }, extract: { root in
                  if case .live(let v0) = root {
                    v0
                  } else {
                    nil
                  }
                })
            }
          }
          struct CaseLenses: Sendable {
            var idle: Case_idle {
              Case_idle()
            }
            struct Case_idle: Composable.MutableCaseLens {
              typealias Root = Phase
              typealias Value = Void
              static var tag: Int {
                0
              }
              @inline(__always) static func embed(_ value: Value) -> Root {
                .idle
              }
              @inline(__always) static func extract(_ root: Root) -> Value? {
                if case .idle = root {
                  ()
                } else {
                  nil
                }
              }
              static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result? {
                guard var value = extract(root) else {
                  return nil
                }
                defer {
                  root = embed(value)
                }
                return body(&value)
              }
            }
            var live: Case_live {
              Case_live()
            }
            struct Case_live: Composable.MutableCaseLens {
              typealias Root = Phase
              typealias Value = Live
              static var tag: Int {
                1
              }
              @inline(__always) static func embed(_ value: Value) -> Root {
                .live(value)
              }
              @inline(__always) static func extract(_ root: Root) -> Value? {
                if case .live(let v0) = root {
                  v0
                } else {
                  nil
                }
              }
              static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result? {
                withUnsafeMutablePointer(to: &root) { pointer in
                  switch pointer.move() {
                  case .live(var v0):
                    let result = body(&v0)
                    pointer.initialize(to: .live(v0))
                    return result
                  case let other:
                    pointer.initialize(to: other)
                    return nil
                  }
                }
              }
            }
          }
          static var _$cases: Cases {
            Cases()
          }
          static var _$caseNames: [String] {
            ["idle", "live"]
          }
          var _$tag: Int {
            switch self {
            case .idle:
              0
            case .live:
              1
            }
          }
          struct Fields: Sendable {
          }
          struct Lenses: Sendable {
          }
          static var _$fields: Fields {
            Fields()
          }
          static var _$fieldNames: [String] {
            _$caseNames
          }
          static var _$ignoredFields: Composable.FieldSet {
            []
          }
          mutating func _$enter(stamp: UInt64) -> UInt64 {
            withUnsafeMutablePointer(to: &self) { pointer in
              switch pointer.move() {
              case .idle:
                pointer.initialize(to: .idle)
                return 0
              case .live(var v0):
                let result = Composable.Observation.enter(&v0, stamp: stamp) &+ 1
                pointer.initialize(to: .live(v0))
                return result
              }
            }
          }
          mutating func _$leave(token: UInt64) -> Bool {
            withUnsafeMutablePointer(to: &self) { pointer in
              switch pointer.move() {
              case .idle:
                pointer.initialize(to: .idle)
                return token == 0
              case .live(var v0):
                let result = Composable.Observation.leave(&v0, token: token &- 1)
                pointer.initialize(to: .live(v0))
                return result
              }
            }
          }
          mutating func _$drain(into node: Composable.ObservationNode?, replaced: Bool) -> Bool {
            withUnsafeMutablePointer(to: &self) { pointer in
              switch pointer.move() {
              case .idle:
                pointer.initialize(to: .idle)
                return Composable.Observation.report(false, 0, node, replaced: replaced)
              case .live(var v0):
                let result = Composable.Observation.report(Composable.Observation.drain(&v0, 1, node, replaced: replaced), 1, node, replaced: replaced)
                pointer.initialize(to: .live(v0))
                return result
              }
            }
          }
          var _$payloadID: AnyHashable? {
            switch self {
            case .idle:
              nil
            case .live(let v0):
              Composable.Observation.id(of: v0)
            }
          }
          func _$collectChanges(at path: String, into paths: inout [String]) {
            switch self {
            case .idle:
              break
            case .live(let v0):
              Composable.Observation.collect(v0, "live", at: path, into: &paths)
            }
          }
          func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {
            switch (self, old) {
            case (.live(let new), .live(let old)):
              Composable.Observation.collectUnrecorded(new, since: old, "live", at: path, into: &paths)
            default:
              if _$tag != old._$tag {
                paths.append(path + "(case)")
              }
            }
          }
          func _$collectSizes(into sizes: inout Composable.StateSizes) {
            switch self {
            case .idle:
              break
            case .live(let v0):
              Composable.Observation.collectSizes(v0, 1, "live", into: &sizes)
            }
          }
        }
        extension Phase: Composable.ObservableState, Composable.CasePathable {
        }
        """)
  }
}
