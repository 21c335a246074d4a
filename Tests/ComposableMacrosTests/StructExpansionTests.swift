import Testing

struct StructExpansionTests {
  @Test func `the fields of a struct get accessors that record changes, and descriptors`() {
    let expansion = Expansion(
      """
      @ObservableState
      struct Counter: Equatable {
        let id: Int
        var count = 0
        @ObservationStateIgnored var child = Child.State()
      }
      """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == """
        struct Counter: Equatable {
          let id: Int
          var count {
            @storageRestrictions(initializes: _count)
            init(initialValue) {
              _count = initialValue
            }
            get {
              _count
            }
            set {
              _$changes.set(0, from: _count, to: newValue)
              _count = newValue
            }
            _modify {
              let access = _$changes.enter(0, &_count)
              defer {
                _$changes.leave(0, &_count, access)
              }
              yield &_count
            }
          }
          fileprivate var _count = 0
          var child {
            @storageRestrictions(initializes: _child)
            init(initialValue) {
              _child = initialValue
            }
            get {
              _child
            }
            set {
              _$changes.set(1, from: _child, to: newValue)
              _child = newValue
            }
            _modify {
              let access = _$changes.enter(1, &_child)
              defer {
                _$changes.leave(1, &_child, access)
              }
              yield &_child
            }
          }
          fileprivate var _child = Child.State()
          var _$changes = Composable.FieldChanges()
          struct Fields: Sendable {
            var count: Composable.Field<Counter, Int> {
              Composable.Field(
                index: 0, name: "count",
                isBranch: Composable.Observation.isBranch((Int).self),
                get: {
                  $0._count
                },
                isPresent: {
                  Composable.Observation.isPresent($0._count)
                },
                modify: { root, body in
                  body(&root.count)
                })
            }
            var child: Composable.Field<Counter, Child.State> {
              Composable.Field(
                index: 1, name: "child",
                isBranch: Composable.Observation.isBranch((Child.State).self),
                get: {
                  $0._child
                },
                isPresent: {
                  Composable.Observation.isPresent($0._child)
                },
                modify: { root, body in
                  body(&root.child)
                })
            }
          }
          struct Lenses: Sendable {
            var count: Lens_count {
              Lens_count()
            }
            struct Lens_count: Composable.FieldLens {
              typealias Root = Counter
              typealias Value = Int
              static var index: Int {
                0
              }
              @inline(__always) static func read<Result>(_ root: Root, _ body: (Value) -> Result) -> Result {
                body(root._count)
              }
              @inline(__always) static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
                let access = root._$changes.enter(0, &root._count)
                defer {
                  root._$changes.leave(0, &root._count, access)
                }
                return body(&root._count)
              }
              static func modifyUnrecorded<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
                body(&root._count)
              }
              static func removeChangeRecord(_ root: inout Root) -> Bool {
                root._$changes.take(0)
              }
              static func restoreChangeRecord(_ root: inout Root) {
                root._$changes.write(0)
              }
            }
            var child: Lens_child {
              Lens_child()
            }
            struct Lens_child: Composable.FieldLens {
              typealias Root = Counter
              typealias Value = Child.State
              static var index: Int {
                1
              }
              @inline(__always) static func read<Result>(_ root: Root, _ body: (Value) -> Result) -> Result {
                body(root._child)
              }
              @inline(__always) static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
                let access = root._$changes.enter(1, &root._child)
                defer {
                  root._$changes.leave(1, &root._child, access)
                }
                return body(&root._child)
              }
              static func modifyUnrecorded<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
                body(&root._child)
              }
              static func removeChangeRecord(_ root: inout Root) -> Bool {
                root._$changes.take(1)
              }
              static func restoreChangeRecord(_ root: inout Root) {
                root._$changes.write(1)
              }
            }
          }
          private enum CodingKeys: String, CodingKey {
            case _count = "count"
            case _child = "child"
            case id
          }
          static var _$fields: Fields {
            Fields()
          }
          static var _$fieldNames: [String] {
            ["count", "child"]
          }
          static var _$ignoredFields: Composable.FieldSet {
            [Composable.FieldSet(field: 1)]
          }
          mutating func _$enter(stamp: UInt64) -> UInt64 {
            _$changes.begin(stamp: stamp)
          }
          mutating func _$leave(token: UInt64) -> Bool {
            _$changes.end(token: token)
          }
          mutating func _$drain(into node: Composable.ObservationNode?, replaced: Bool) -> Bool {
            guard var drain = _$changes.beginDrain(replaced: replaced) else {
              return false
            }
            if Composable.Observation.isBranch((Int).self), drain.visits(0) {
              drain.record(0, Composable.Observation.drain(&_count, 0, node, replaced: drain.isReplaced(0)))
            }
            if Composable.Observation.isBranch((Child.State).self), drain.visits(1) {
              drain.record(1, Composable.Observation.drain(&_child, 1, node, replaced: drain.isReplaced(1)))
            }
            return drain.finish(node, ignored: Self._$ignoredFields)
          }
          func _$collectChanges(at path: String, into paths: inout [String]) {
            Composable.Observation.collect(_count, 0, "count", _$changes, at: path, into: &paths)
            Composable.Observation.collect(_child, 1, "child", _$changes, at: path, into: &paths)
          }
          func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {
            Composable.Observation.collectUnrecorded(_count, since: old._count, 0, "count", _$changes, at: path, into: &paths)
            Composable.Observation.collectUnrecorded(_child, since: old._child, 1, "child", _$changes, at: path, into: &paths)
          }
          func _$collectSizes(into sizes: inout Composable.StateSizes) {
            Composable.Observation.collectSizes(_count, 0, "count", into: &sizes)
            Composable.Observation.collectSizes(_child, 1, "child", into: &sizes)
          }
          var customMirror: Mirror {
            Mirror(self, children: ["id": id as Any, "count": _count as Any, "child": _child as Any], displayStyle: .struct)
          }
        }
        extension Counter: Composable.ObservableState, Swift.CustomReflectable {
        }
        """)
  }
}
