public import SwiftSyntax
public import SwiftSyntaxMacros

/// Attributes of The Composable Architecture, and what is written in their place here.
enum Elsewhere {
  /// Of a field of a state.
  static func remedy(for attribute: String, of field: String) -> MacroMessage? {
    switch attribute {
    case "Presents", "PresentationState":
      .elsewhere(
        "'\(field)' needs no @\(attribute): an optional field is presented by '.presents(\\.\(field), action: \\.\(field)) { … }'"
      )
    case "Shared", "SharedReader":
      .elsewhere(
        "'\(field)' needs no @\(attribute): a plain field is shared by '.sharing(\\.\(field), with: …, action: \\.\(field))'"
      )
    case "BindingState":
      .elsewhere("'\(field)' needs no @\(attribute): a BindingReducer sets any field")
    default: nil
    }
  }

  /// Of a dependency, by the key path or the type in its attribute.
  static func remedy(forDependency key: String) -> MacroMessage {
    let value =
      switch key {
      case "\\.dismiss": "return '.dismiss' from the reducer"
      case "\\.continuousClock", "\\.suspendingClock": "'dependencies.clock'"
      case "\\.uuid": "'dependencies.identifiers.next()'"
      case "\\.withRandomNumberGenerator": "'dependencies.randomness'"
      case let type where type.hasSuffix(".self"): "'dependencies[\(type)]'"
      default: "'dependencies[Client.self]', where Client is a DependencyValue"
      }
    return .elsewhere(
      key == "\\.dismiss"
        ? "no @Dependency is needed to dismiss: \(value)"
        : "dependencies are handed down: declare 'let dependencies: Dependencies' and use \(value)")
  }
}

/// `@Dependency(…)`: says what is written in its place.
public enum DependencyMacro: PeerMacro {
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let key = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression.trimmedDescription
    context.report(Elsewhere.remedy(forDependency: key ?? ""), at: node)
    return []
  }
}
