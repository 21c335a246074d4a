import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@ObservableState` adds to a struct.
struct StructState {
  private let access: String
  private let name: String
  private let fields: [StoredField]
  private let constants: [StoredConstant]

  init(_ declaration: StructDeclSyntax, _ fields: [StoredField]) {
    access = declaration.memberAccess
    name = declaration.name.text
    self.fields = fields
    constants = declaration.storedConstants
  }

  var members: [DeclSyntax] {
    [changes, fieldsType, lensesType] + codingKeys + statics + accesses
      + [drain, collectChanges, collectUnrecorded, collectSizes, mirror]
  }

  private var changes: DeclSyntax {
    let type = fields.count > 64 ? "WideFieldChanges" : "FieldChanges"
    return "\(raw: access)var _$changes = Composable.\(raw: type)()"
  }

  private var fieldsType: DeclSyntax {
    let descriptors = fields.map { field in
      let type = field.typeName
      return """
        \(access)var \(field.name): Composable.Field<\(name), \(type)> {
        Composable.Field(
        index: \(field.index), name: "\(field.name.unquoted)",
        isBranch: Composable.Observation.isBranch((\(type)).self),
        get: { $0.\(field.storage) },
        isPresent: { Composable.Observation.isPresent($0.\(field.storage)) },
        modify: { root, body in body(&root.\(field.name)) })
        }
        """
    }
    return """
      \(raw: access)struct Fields: Sendable {
      \(raw: descriptors.joined(separator: "\n"))
      }
      """
  }

  /// The fields as types, so that compositions are resolved at compile time.
  private var lensesType: DeclSyntax {
    let lenses = fields.map { field in
      """
      \(access)var \(field.name): Lens_\(field.name.unquoted) { Lens_\(field.name.unquoted)() }
      \(access)struct Lens_\(field.name.unquoted): Composable.FieldLens {
      \(access)typealias Root = \(name)
      \(access)typealias Value = \(field.typeName)
      \(access)static var index: Int { \(field.index) }
      @inline(__always) \(access)static func read<Result>(_ root: Root, _ body: (Value) -> Result) -> Result {
      body(root.\(field.storage))
      }
      @inline(__always) \(access)static func modify<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
      let access = root._$changes.enter(\(field.index), &root.\(field.storage))
      defer { root._$changes.leave(\(field.index), &root.\(field.storage), access) }
      return body(&root.\(field.storage))
      }
      \(access)static func modifyUnrecorded<Result>(_ root: inout Root, _ body: (inout Value) -> Result) -> Result {
      body(&root.\(field.storage))
      }
      \(access)static func removeChangeRecord(_ root: inout Root) -> Bool { root._$changes.take(\(field.index)) }
      \(access)static func restoreChangeRecord(_ root: inout Root) { root._$changes.write(\(field.index)) }
      }
      """
    }
    return """
      \(raw: access)struct Lenses: Sendable {
      \(raw: lenses.joined(separator: "\n"))
      }
      """
  }

  /// The coding keys, which use the names of the fields and not of their storage.
  private var codingKeys: [DeclSyntax] {
    guard !fields.isEmpty || !constants.isEmpty else { return [] }
    let cases =
      fields.map { "case \($0.storage) = \"\($0.name.unquoted)\"" }
      + constants.filter { !$0.hasValue }.map { "case \($0.name)" }
    guard !cases.isEmpty else { return [] }
    return [
      """
      private enum CodingKeys: String, CodingKey {
      \(raw: cases.joined(separator: "\n"))
      }
      """
    ]
  }

  private var statics: [DeclSyntax] {
    let names = fields.map { "\"\($0.name.unquoted)\"" }.joined(separator: ", ")
    let ignored = fields.filter(\.isIgnored)
      .map { "Composable.FieldSet(field: \($0.index))" }.joined(separator: ", ")
    return [
      "\(raw: access)static var _$fields: Fields { Fields() }",
      "\(raw: access)static var _$fieldNames: [String] { [\(raw: names)] }",
      "\(raw: access)static var _$ignoredFields: Composable.FieldSet { [\(raw: ignored)] }",
    ]
  }

  private var accesses: [DeclSyntax] {
    [
      """
      \(raw: access)mutating func _$enter(stamp: UInt64) -> UInt64 {
      _$changes.begin(stamp: stamp)
      }
      """,
      """
      \(raw: access)mutating func _$leave(token: UInt64) -> Bool {
      _$changes.end(token: token)
      }
      """,
    ]
  }

  private var drain: DeclSyntax {
    let visits = fields.map { field in
      """
      if Composable.Observation.isBranch((\(field.typeName)).self), drain.visits(\(field.index)) {
      drain.record(\(field.index), Composable.Observation.drain(&\(field.storage), \(field.index), node, replaced: drain.isReplaced(\(field.index))))
      }
      """
    }
    return """
      \(raw: access)mutating func _$drain(into node: Composable.ObservationNode?, replaced: Bool) -> Bool {
      guard \(raw: fields.isEmpty ? "let" : "var") drain = _$changes.beginDrain(replaced: replaced) else {
      return false
      }
      \(raw: visits.joined(separator: "\n"))
      return drain.finish(node, ignored: Self._$ignoredFields)
      }
      """
  }

  private var collectChanges: DeclSyntax {
    function("_$collectChanges(at path: String, into paths: inout [String])") {
      "Composable.Observation.collect(\($0.storage), \($0.index), \"\($0.name.unquoted)\", _$changes, at: path, into: &paths)"
    }
  }

  private var collectUnrecorded: DeclSyntax {
    function(
      "_$collectUnrecorded(since old: Self, at path: String, into paths: inout [String])"
    ) {
      "Composable.Observation.collectUnrecorded(\($0.storage), since: old.\($0.storage), \($0.index), \"\($0.name.unquoted)\", _$changes, at: path, into: &paths)"
    }
  }

  private var collectSizes: DeclSyntax {
    function("_$collectSizes(into sizes: inout Composable.StateSizes)") {
      "Composable.Observation.collectSizes(\($0.storage), \($0.index), \"\($0.name.unquoted)\", into: &sizes)"
    }
  }

  /// Returns a function with a statement for each field.
  private func function(_ head: String, _ statement: (StoredField) -> String) -> DeclSyntax {
    """
    \(raw: access)func \(raw: head) {
    \(raw: fields.map(statement).joined(separator: "\n"))
    }
    """
  }

  /// The mirror, which makes dumps show the fields by name and hides the bookkeeping.
  private var mirror: DeclSyntax {
    let children =
      constants.map { "\"\($0.name.unquoted)\": \($0.name) as Any" }
      + fields.map { "\"\($0.name.unquoted)\": \($0.storage) as Any" }
    let list = children.isEmpty ? ":" : children.joined(separator: ", ")
    return """
      \(raw: access)var customMirror: Mirror {
      Mirror(self, children: [\(raw: list)], displayStyle: .struct)
      }
      """
  }
}

extension StoredField {
  var typeName: String { type?.trimmedDescription ?? "Never" }
  /// The name of the stored property of the field.
  var storage: String { "_\(name.unquoted)" }
}

extension String {
  /// A name without the backticks that make a keyword an identifier.
  var unquoted: String {
    hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
  }
}
