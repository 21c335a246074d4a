public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro `@CasePathable`, which adds a path and a number for each case.
public enum CasePathableMacro {}

extension CasePathableMacro: MemberMacro {
  public static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let declaration = declaration.as(EnumDeclSyntax.self) else {
      context.report(.notAnEnum, at: node)
      return []
    }
    return CasePathMembers(declaration).members
  }
}

extension CasePathableMacro: ExtensionMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(EnumDeclSyntax.self) else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): Composable.CasePathable {}")]
  }
}

/// The macro `@Reducer`. On a struct, it adds the conformance, and `@CasePathable` to the `Action`.
/// On an enum of features, it adds a state, actions, and a reducer that contains all features.
public enum ReducerMacro {}

extension ReducerMacro: MemberMacro {
  public static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if let declaration = declaration.as(EnumDeclSyntax.self) {
      return FeatureEnum(declaration)?.members(in: context) ?? []
    }
    BodyCheck(declaration).report(in: context)
    for member in declaration.memberBlock.members {
      guard let state = member.decl.as(StructDeclSyntax.self), state.name.text == "State",
        !state.attributes.contains(where: {
          $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription.hasSuffix("ObservableState")
            == true
        })
      else { continue }
      context.report(.unobservedState, at: state.name)
    }
    return []
  }
}

extension ReducerMacro: MemberAttributeMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    if let action = member.as(EnumDeclSyntax.self), action.name.text == "Action",
      !action.hasAttribute("CasePathable")
    {
      return ["@CasePathable"]
    }
    if let body = member.as(VariableDeclSyntax.self),
      body.bindings.first?.pattern.trimmedDescription == "body"
    {
      return ["@Composable.ReducerBuilder<State, Action>"]
    }
    return []
  }
}

extension ReducerMacro: ExtensionMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    if let declaration = declaration.as(EnumDeclSyntax.self) {
      guard FeatureEnum(declaration)?.isComplete == true else { return [] }
      return [try ExtensionDeclSyntax("extension \(type.trimmed): Composable.FeatureTypes {}")]
    }
    guard declaration.is(StructDeclSyntax.self) else {
      let keyword = declaration.as(ClassDeclSyntax.self)?.classKeyword
      context.report(
        .notAStruct, at: node,
        fixIts: keyword.map { [.replace($0, by: .keyword(.struct), "use a struct")] } ?? [])
      return []
    }
    let hasBody = declaration.memberBlock.members.contains {
      $0.decl.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription == "body"
    }
    // The composition in a body is compiled into one function where the body is declared. A reducer
    // without a body is called directly.
    let prepared =
      hasBody ? "ReducerSteps<State, Action>" : "CountingReducer<\(type.trimmedDescription)>"
    // The compiler infers the associated types for `Reducer`, but not for `FeatureTypes`.
    let isNamed = ["State", "Action"].allSatisfy(declaration.declaresType(named:))
    let conformances =
      isNamed ? "Composable.Reducer, Composable.FeatureTypes" : "Composable.Reducer"
    return [
      try ExtensionDeclSyntax(
        """
        extension \(type.trimmed): \(raw: conformances) {
        \(raw: declaration.memberAccess)typealias Prepared = Composable.\(raw: prepared)
        }
        """)
    ]
  }
}
