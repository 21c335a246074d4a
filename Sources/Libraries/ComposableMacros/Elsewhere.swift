public import SwiftSyntax
public import SwiftSyntaxMacros

/// Attributes of The Composable Architecture, and their replacements in this library.
enum Elsewhere {
  /// Returns the error for an attribute of a field of a state, or nil if the attribute is unknown.
  static func remedy(for attribute: String, of field: String) -> MacroMessage? {
    switch attribute {
    case "Presents", "PresentationState":
      .elsewhere(
        "'\(field)' needs no @\(attribute): present the optional field by '.presents(\\.\(field), action: \\.\(field)) { … }'"
      )
    case "Shared", "SharedReader":
      .elsewhere(
        "'\(field)' needs no @\(attribute): share the plain field by '.sharing(\\.\(field), with: …, action: \\.\(field))'"
      )
    case "BindingState":
      .elsewhere("'\(field)' needs no @\(attribute): a BindingReducer can set any field")
    default: nil
    }
  }

  /// Returns the error for a dependency, given the key path or the type in its attribute.
  static func remedy(forDependency key: String) -> MacroMessage {
    if key == "\\.dismiss" {
      return .elsewhere("no @Dependency is needed to dismiss: return '.dismiss' from the reducer")
    }
    let value =
      switch key {
      case "\\.continuousClock", "\\.suspendingClock", "\\.mainQueue", "\\.mainRunLoop":
        "'dependencies.clock'"
      case "\\.uuid":
        "'dependencies.identifiers.next()', which returns a UInt64; for a UUID, declare a DependencyValue"
      case let path where path == "\\.date" || path.hasPrefix("\\.date."):
        "'dependencies[Today.self].now()', where Today is a DependencyValue that you declare"
      case "\\.withRandomNumberGenerator": "'dependencies.randomness'"
      case let type where type.hasSuffix(".self"): "'dependencies[\(type)]'"
      default: "'dependencies[Client.self]', where Client is a DependencyValue"
      }
    return .elsewhere(
      "pass dependencies explicitly: declare 'let dependencies: Dependencies' and use \(value)")
  }
}

/// The macro `@Dependency(…)`, which only reports an error that names the replacement.
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
