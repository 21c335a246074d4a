import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@ObservableState` adds to a struct.
struct StructState {
  private let access: String
  private let name: String
  private let fields: [StoredField]
  private let constants: [String]

  init(_ declaration: StructDeclSyntax, _ fields: [StoredField]) {
    access = declaration.memberAccess
    name = declaration.name.text
    self.fields = fields
    constants = declaration.storedConstants
  }

  var members: [DeclSyntax] {
    [changes, fieldsType] + codingKeys + statics + accesses + [drain]
  }

  private var changes: DeclSyntax { "\(raw: access)var _$changes = Composable.FieldChanges()" }

  private var fieldsType: DeclSyntax {
    let descriptors = fields.map { field in
      let type = field.type!.trimmedDescription
      return """
        \(access)var \(field.name): Composable.Field<\(name), \(type)> {
        Composable.Field(
        index: \(field.index), name: "\(field.name.unquoted)",
        isBranch: Composable.Observation.isBranch((\(type)).self),
        get: { $0._\(field.name.unquoted) },
        isPresent: { Composable.Observation.isPresent($0._\(field.name.unquoted)) },
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

  /// The storage has other names than the fields; what is coded keeps theirs.
  private var codingKeys: [DeclSyntax] {
    guard !fields.isEmpty || !constants.isEmpty else { return [] }
    let cases =
      fields.map { "case _\($0.name.unquoted) = \"\($0.name.unquoted)\"" }
      + constants.map { "case \($0)" }
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
      if Composable.Observation.isBranch((\(field.type!.trimmedDescription)).self), drain.visits(\(field.index)) {
      drain.note(\(field.index), Composable.Observation.drain(&_\(field.name.unquoted), \(field.index), node, replaced: drain.isReplaced(\(field.index))))
      }
      """
    }
    return """
      \(raw: access)mutating func _$drain(into node: Composable.PlaceNode?, replaced: Bool) -> Bool {
      guard var drain = _$changes.beginDrain(replaced: replaced) else {
      return false
      }
      \(raw: visits.joined(separator: "\n"))
      return drain.finish(node, ignored: Self._$ignoredFields)
      }
      """
  }
}

extension String {
  /// A name without the backticks that make a keyword an identifier.
  var unquoted: String {
    hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
  }
}
