import SwiftSyntax
import SwiftSyntaxBuilder

/// One case of an enum, in the form that the macros need.
struct EnumCase {
  let tag: Int
  let name: String
  let values: [(label: String?, type: String)]
  /// Whether the only payload is a function, so that a parameter for it must be `@escaping`.
  let isFunction: Bool

  /// The type of all associated values together, or `Void` if there are none.
  var valueType: String {
    switch values.count {
    case 0: "Void"
    case 1: values[0].type
    default:
      "("
        + values.map { value in (value.label.map { "\($0): " } ?? "") + value.type }
        .joined(separator: ", ") + ")"
    }
  }

  /// Returns the pattern that binds the values to `v0`, `v1`, and so on.
  func pattern(_ keyword: String) -> String {
    values.isEmpty
      ? ".\(name)"
      : ".\(name)(" + values.indices.map { "\(keyword) v\($0)" }.joined(separator: ", ") + ")"
  }

  /// An expression that makes the case from `v0`, `v1`, and so on.
  var construction: String {
    values.isEmpty
      ? ".\(name)"
      : ".\(name)("
        + values.enumerated().map { ($1.label.map { "\($0): " } ?? "") + "v\($0)" }
        .joined(separator: ", ") + ")"
  }
}

extension EnumDeclSyntax {
  var observedCases: [EnumCase] {
    var cases: [EnumCase] = []
    for member in memberBlock.members {
      guard let declaration = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
      for element in declaration.elements {
        let values =
          element.parameterClause?.parameters.map { parameter in
            (
              label: parameter.firstName.flatMap { $0.text == "_" ? nil : $0.text },
              type: parameter.type.trimmedDescription
            )
          } ?? []
        let type = element.parameterClause?.parameters.first?.type
        cases.append(
          EnumCase(
            tag: cases.count, name: element.name.text, values: values,
            isFunction: values.count == 1 && type?.isFunction == true))
      }
    }
    return cases
  }
}

/// The members that `@CasePathable` adds to an enum.
struct CasePathMembers {
  let access: String
  let name: String
  let cases: [EnumCase]
  /// Whether payloads can be mutated in place.
  let isState: Bool

  init(_ declaration: EnumDeclSyntax, isState: Bool = false) {
    access = declaration.memberAccess
    name = declaration.name.text
    cases = declaration.observedCases
    self.isState = isState
  }

  var members: [DeclSyntax] {
    [casesType, lensesType, "\(raw: access)static var _$cases: Cases { Cases() }", names, tag]
  }

  /// Returns an expression that makes the case from a value named `value`.
  private func embed(_ element: EnumCase) -> String {
    switch element.values.count {
    case 0: return ".\(element.name)"
    case 1:
      let label = element.values[0].label.map { "\($0): " } ?? ""
      return ".\(element.name)(\(label)value)"
    default:
      let arguments = element.values.enumerated().map { index, value in
        (value.label.map { "\($0): " } ?? "") + "value.\(index)"
      }
      return ".\(element.name)(\(arguments.joined(separator: ", ")))"
    }
  }

  /// Returns an expression that extracts the payload from a value named `root`, or `nil`.
  private func extract(_ element: EnumCase) -> String {
    switch element.values.count {
    case 0: return "if case .\(element.name) = root { () } else { nil }"
    case 1: return "if case .\(element.name)(let v0) = root { v0 } else { nil }"
    default:
      let bound = element.values.indices.map { "v\($0)" }.joined(separator: ", ")
      return "if case \(element.pattern("let")) = root { (\(bound)) } else { nil }"
    }
  }

  private var casesType: DeclSyntax {
    let paths = cases.map { element in
      let value = element.values.isEmpty ? "_" : "value"
      return """
        \(access)var \(element.name): Composable.CasePath<\(name), \(element.valueType)> {
        Composable.CasePath(tag: \(element.tag), name: "\(element.name.unquoted)", embed: { \(value) in \(embed(element)) }, extract: { root in \(extract(element)) })
        }
        """
    }
    return """
      \(raw: access)struct Cases: Sendable {
      \(raw: paths.joined(separator: "\n"))
      }
      """
  }

  /// The cases as types, so that compositions are resolved at compile time.
  private var lensesType: DeclSyntax {
    let lenses = cases.map { element in
      """
      \(access)var \(element.name): Case_\(element.name.unquoted) { Case_\(element.name.unquoted)() }
      \(access)struct Case_\(element.name.unquoted): Composable.\(isState ? "MutableCaseLens" : "CaseLens") {
      \(access)typealias Root = \(name)
      \(access)typealias Value = \(element.valueType)
      \(access)static var tag: Int { \(element.tag) }
      @inline(__always) \(access)static func embed(_ value: \(element.isFunction ? "@escaping " : "")Value) -> Root { \(embed(element)) }
      @inline(__always) \(access)static func extract(_ root: Root) -> Value? { \(extract(element)) }
      \(isState ? modify(element) : "")
      }
      """
    }
    return """
      \(raw: access)struct CaseLenses: Sendable {
      \(raw: lenses.joined(separator: "\n"))
      }
      """
  }

  /// Returns a function that mutates the payload. The payload is moved out and back, so that its
  /// collections stay uniquely referenced.
  private func modify(_ element: EnumCase) -> String {
    let head =
      "\(access)static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result?"
    guard element.values.count == 1 else {
      return """
        \(head) {
        guard var value = extract(root) else { return nil }
        defer { root = embed(value) }
        return body(&value)
        }
        """
    }
    let other =
      cases.count > 1
      ? """
      case let other:
      pointer.initialize(to: other)
      return nil
      """ : ""
    return """
      \(head) {
      withUnsafeMutablePointer(to: &root) { pointer in
      switch pointer.move() {
      case .\(element.name)(var v0):
      let result = body(&v0)
      pointer.initialize(to: \(element.construction))
      return result
      \(other)
      }
      }
      }
      """
  }

  private var names: DeclSyntax {
    let names = cases.map { "\"\($0.name.unquoted)\"" }.joined(separator: ", ")
    return "\(raw: access)static var _$caseNames: [String] { [\(raw: names)] }"
  }

  private var tag: DeclSyntax {
    guard !cases.isEmpty else { return "\(raw: access)var _$tag: Int { switch self {} }" }
    let rows = cases.map { "case .\($0.name): \($0.tag)" }
    return """
      \(raw: access)var _$tag: Int {
      switch self {
      \(raw: rows.joined(separator: "\n"))
      }
      }
      """
  }
}

/// The members that `@ObservableState` adds to an enum: those of `@CasePathable`, and reports of
/// changes. A payload is moved out and back, so that its collections stay uniquely referenced.
struct EnumState {
  private let paths: CasePathMembers
  private var access: String { paths.access }

  init(_ declaration: EnumDeclSyntax) {
    paths = CasePathMembers(declaration, isState: true)
  }

  var members: [DeclSyntax] {
    paths.members + [
      "\(raw: access)struct Fields: Sendable {}",
      "\(raw: access)struct Lenses: Sendable {}",
      "\(raw: access)static var _$fields: Fields { Fields() }",
      "\(raw: access)static var _$fieldNames: [String] { _$caseNames }",
      "\(raw: access)static var _$ignoredFields: Composable.FieldSet { [] }",
      enter, leave, drain, payloadID, collectChanges, collectUnrecorded, collectSizes,
    ]
  }

  /// Returns a function that visits the payload of the current case and moves it through a pointer.
  /// With `consume` instead, the compiler would keep values of trivial types alive.
  private func visiting(
    _ head: String, payload: (EnumCase) -> String, none: (EnumCase) -> String,
    several: (EnumCase) -> String
  ) -> DeclSyntax {
    let rows = paths.cases.map { element in
      switch element.values.count {
      case 0:
        """
        case .\(element.name):
        pointer.initialize(to: .\(element.name))
        return \(none(element))
        """
      case 1:
        """
        case .\(element.name)(var v0):
        let result = \(payload(element))
        pointer.initialize(to: \(element.construction))
        return result
        """
      default:
        """
        case \(element.pattern("let")):
        pointer.initialize(to: \(element.construction))
        return \(several(element))
        """
      }
    }
    guard !rows.isEmpty else {
      return "\(raw: access)mutating func \(raw: head) { switch self {} }"
    }
    return """
      \(raw: access)mutating func \(raw: head) {
      withUnsafeMutablePointer(to: &self) { pointer in
      switch pointer.move() {
      \(raw: rows.joined(separator: "\n"))
      }
      }
      }
      """
  }

  private var enter: DeclSyntax {
    visiting(
      "_$enter(stamp: UInt64) -> UInt64",
      payload: { "Composable.Observation.enter(&v0, stamp: stamp) &+ \($0.tag)" },
      none: { "\($0.tag)" }, several: { _ in "stamp" })
  }

  private var leave: DeclSyntax {
    visiting(
      "_$leave(token: UInt64) -> Bool",
      payload: { "Composable.Observation.leave(&v0, token: token &- \($0.tag))" },
      none: { "token == \($0.tag)" }, several: { _ in "false" })
  }

  private var drain: DeclSyntax {
    visiting(
      "_$drain(into node: Composable.ObservationNode?, replaced: Bool) -> Bool",
      payload: {
        report("Composable.Observation.drain(&v0, \($0.tag), node, replaced: replaced)", $0)
      },
      none: { report("false", $0) }, several: { report("false", $0) })
  }

  private func report(_ isChanged: String, _ element: EnumCase) -> String {
    "Composable.Observation.report(\(isChanged), \(element.tag), node, replaced: replaced)"
  }

  /// The `id` that distinguishes a payload from others of the same case.
  private var payloadID: DeclSyntax {
    let rows = paths.cases.map { element in
      element.values.count == 1
        ? "case .\(element.name)(let v0): Composable.Observation.id(of: v0)"
        : "case .\(element.name): nil"
    }
    return """
      \(raw: access)var _$payloadID: AnyHashable? {
      switch self {
      \(raw: rows.joined(separator: "\n"))
      }
      }
      """
  }

  private var collectChanges: DeclSyntax {
    function("_$collectChanges(at path: String, into paths: inout [String])") {
      "Composable.Observation.collect(v0, \"\($0.name.unquoted)\", at: path, into: &paths)"
    }
  }

  private var collectSizes: DeclSyntax {
    function("_$collectSizes(into sizes: inout Composable.StateSizes)") {
      "Composable.Observation.collectSizes(v0, \($0.tag), \"\($0.name.unquoted)\", into: &sizes)"
    }
  }

  /// Returns a function with a statement for each case with one payload.
  private func function(_ head: String, _ statement: (EnumCase) -> String) -> DeclSyntax {
    let rows = paths.cases.map { element in
      element.values.count == 1
        ? "case .\(element.name)(let v0):\n\(statement(element))" : "case .\(element.name): break"
    }
    return """
      \(raw: access)func \(raw: head) {
      \(raw: rows.isEmpty ? "" : "switch self {\n\(rows.joined(separator: "\n"))\n}")
      }
      """
  }

  private var collectUnrecorded: DeclSyntax {
    let rows = paths.cases.filter { $0.values.count == 1 }.map { element in
      """
      case (.\(element.name)(let new), .\(element.name)(let old)):
      Composable.Observation.collectUnrecorded(new, since: old, "\(element.name.unquoted)", at: path, into: &paths)
      """
    }
    // In an enum with a single case, that case already covers all values, so the compiler would
    // warn about a `default`.
    let others =
      rows.count == 1 && paths.cases.count == 1
      ? "" : "default:\nif _$tag != old._$tag { paths.append(path + \"(case)\") }"
    return """
      \(raw: access)func _$collectUnrecorded(since old: Self, at path: String, into paths: inout [String]) {
      switch (self, old) {
      \(raw: rows.joined(separator: "\n"))
      \(raw: others)
      }
      }
      """
  }
}

extension TypeSyntax {
  /// Whether the type is a function type, with or without attributes.
  fileprivate var isFunction: Bool {
    self.as(AttributedTypeSyntax.self).map { $0.baseType.isFunction }
      ?? self.is(FunctionTypeSyntax.self)
  }
}
