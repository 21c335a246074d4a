public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro `@ObservableState`, which adds dirty bits, descriptors and change reports to a state.
public enum ObservableStateMacro {}

extension ObservableStateMacro: MemberMacro {
  public static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let declaration = declaration.as(EnumDeclSyntax.self) {
      return EnumState(declaration).members
    }
    guard let declaration = declaration.as(StructDeclSyntax.self) else {
      let keyword = declaration.as(ClassDeclSyntax.self)?.classKeyword
      context.report(
        .notAStructOrEnum(macro: "ObservableState"), at: node,
        fixIts: keyword.map { [.replace($0, by: .keyword(.struct), "use a struct")] } ?? [])
      return []
    }
    let fields = declaration.storedFields
    guard StateCheck(declaration, node).passes(in: context) else { return [] }
    return StructState(declaration, fields).members
  }
}

extension ObservableStateMacro: MemberAttributeMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let declaration = declaration.as(StructDeclSyntax.self),
      let variable = member.as(VariableDeclSyntax.self),
      variable.isObservable, variable.observers == nil,
      let name = variable.bindings.first?.pattern.trimmedDescription,
      let field = declaration.storedFields.first(where: { $0.name == name }),
      StateCheck(declaration, node).passes
    else { return [] }
    return ["@ObservationStateField(\(raw: field.index))"]
  }
}

extension ObservableStateMacro: ExtensionMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let isExpanded =
      declaration.as(StructDeclSyntax.self).map { StateCheck($0, node).passes }
      ?? declaration.is(EnumDeclSyntax.self)
    guard isExpanded else { return [] }
    let conformances =
      declaration.is(EnumDeclSyntax.self)
      ? "Composable.ObservableState, Composable.CasePathable"
      : "Composable.ObservableState, Swift.CustomReflectable"
    return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: conformances) {}")]
  }
}
