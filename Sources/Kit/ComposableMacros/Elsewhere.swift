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
    if key == "\\.dismiss" {
      return .elsewhere("no @Dependency is needed to dismiss: return '.dismiss' from the reducer")
    }
    let value =
      switch key {
      case "\\.continuousClock", "\\.suspendingClock", "\\.mainQueue", "\\.mainRunLoop":
        "'dependencies.clock'"
      case "\\.uuid":
        "'dependencies.identifiers.next()', a UInt64; a UUID comes from a DependencyValue of your own"
      case let path where path == "\\.date" || path.hasPrefix("\\.date."):
        "'dependencies[Today.self].now()', where Today is a DependencyValue of your own"
      case "\\.withRandomNumberGenerator": "'dependencies.randomness'"
      case let type where type.hasSuffix(".self"): "'dependencies[\(type)]'"
      default: "'dependencies[Client.self]', where Client is a DependencyValue"
      }
    return .elsewhere(
      "dependencies are handed down: declare 'let dependencies: Dependencies' and use \(value)")
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
