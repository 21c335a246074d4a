public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@CasePathable`: a path and a number for each case.
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

/// `@Reducer`: the conformance, and `@CasePathable` for the feature's `Action`. On an enum of features:
/// its state, its actions, and a reducer of them all.
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
      !action.attributes.contains(where: {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "CasePathable"
      })
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
        fixIts: keyword.map { [.replace($0, by: .keyword(.struct), "make it a struct")] } ?? [])
      return []
    }
    let hasBody = declaration.memberBlock.members.contains {
      $0.decl.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription == "body"
    }
    // A body's reducer is one function, compiled where the body is; one without is called directly.
    let prepared =
      hasBody ? "ReducerSteps<State, Action>" : "CountingReducer<\(type.trimmedDescription)>"
    // The compiler may infer the types of a reducer; those of a feature it can only find.
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
