import SwiftDiagnostics
import SwiftSyntax

struct Remedy: FixItMessage {
  let message: String

  init(_ message: String) { self.message = message }

  var fixItID: MessageID { MessageID(domain: "Composable", id: message) }
}

extension FixIt {
  static func replace<Node: SyntaxProtocol>(_ old: Node, by new: Node, _ remedy: String) -> FixIt {
    FixIt(
      message: Remedy(remedy),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }

  static func replace(_ old: TokenSyntax, by keyword: TokenKind, _ remedy: String) -> FixIt {
    .replace(old, by: old.with(\.tokenKind, keyword), remedy)
  }

  static func remove(_ attribute: AttributeSyntax, from variable: VariableDeclSyntax) -> FixIt {
    let rest = variable.attributes.filter { element in
      if case .attribute(let other) = element { other.id != attribute.id } else { true }
    }
    return .replace(
      variable, by: variable.with(\.attributes, rest).led(like: variable),
      "remove '@\(attribute.attributeName.trimmedDescription)'")
  }
}

extension PatternBindingSyntax {
  /// Returns the binding with a placeholder for a type.
  func annotated(_ name: String) -> PatternBindingSyntax {
    with(\.pattern, PatternSyntax(IdentifierPatternSyntax(identifier: .identifier(name))))
      .with(
        \.typeAnnotation,
        TypeAnnotationSyntax(
          colon: .colonToken(trailingTrivia: .space),
          type: TypeSyntax(IdentifierTypeSyntax(name: .identifier("<#Type#>"))),
          trailingTrivia: .space))
  }
}

extension VariableDeclSyntax {
  /// Returns the declaration with the leading trivia of `other`.
  func led(like other: VariableDeclSyntax) -> VariableDeclSyntax {
    with(\.leadingTrivia, other.leadingTrivia)
  }

  /// One declaration per name, or `nil` if a pattern is not a plain name.
  var split: [MemberBlockItemSyntax]? {
    guard bindings.allSatisfy({ $0.pattern.is(IdentifierPatternSyntax.self) }) else { return nil }
    let type = bindings.last?.typeAnnotation
    return bindings.map { binding in
      var single = binding.with(\.trailingComma, nil).with(\.trailingTrivia, [])
      if single.typeAnnotation == nil, single.initializer == nil { single.typeAnnotation = type }
      return MemberBlockItemSyntax(
        decl: with(\.bindings, PatternBindingListSyntax([single])).led(like: self))
    }
  }
}
