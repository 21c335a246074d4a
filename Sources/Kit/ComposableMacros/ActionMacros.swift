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

/// An enum whose cases each carry a feature.
struct FeatureEnum {
  private let declaration: EnumDeclSyntax
  private let access: String
  private let name: String
  private let cases: [EnumCase]

  /// `nil` if the enum has no cases.
  init?(_ declaration: EnumDeclSyntax) {
    self.declaration = declaration
    access = declaration.memberAccess
    name = declaration.name.text
    cases = declaration.observedCases
    if cases.isEmpty { return nil }
  }

  /// The case that does not carry just a feature, if there is one.
  private var odd: EnumCase? {
    cases.first { $0.values.count != 1 || $0.values[0].label != nil || $0.isFunction }
  }

  func members(in context: some MacroExpansionContext) -> [DeclSyntax] {
    if let odd {
      context.report(.notAFeature(caseName: odd.name), at: declaration.name)
      return []
    }
    func rows(_ row: (_ name: String, _ feature: String) -> String) -> String {
      cases.map { row($0.name, $0.values[0].type) }.joined(separator: "\n")
    }
    let parameters = cases.map { "\($0.name): \($0.values[0].type)" }.joined(separator: ", ")
    return [
      """
      @Composable.ObservableState
      \(raw: access)enum State: Equatable, Sendable {
      \(raw: rows { "case \($0)(\($1).State)" })
      }
      """,
      """
      @Composable.CasePathable
      \(raw: access)enum Action: Sendable {
      \(raw: rows { "case \($0)(\($1).Action)" })
      }
      """,
      """
      \(raw: access)struct Features: Composable.Reducer {
      \(raw: access)typealias State = \(raw: name).State
      \(raw: access)typealias Action = \(raw: name).Action
      \(raw: access)typealias Prepared = Composable.ReducerSteps<State, Action>
      \(raw: rows { "\(access)var \($0): \($1)" })
      \(raw: access)init(\(raw: parameters)) {
      \(raw: rows { name, _ in "self.\(name) = \(name)" })
      }
      @Composable.ReducerBuilder<State, Action>
      \(raw: access)var body: some Composable.Reducer<State, Action> {
      \(raw: rows { name, _ in "Composable.EmptyReducer<State, Action>().ifCaseLet(\\.\(name), action: \\.\(name)) { self.\(name) }" })
      }
      }
      """,
    ]
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
    if declaration.is(EnumDeclSyntax.self) { return [] }
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
    return [
      try ExtensionDeclSyntax(
        """
        extension \(type.trimmed): Composable.Reducer {
        \(raw: declaration.memberAccess)typealias Prepared = Composable.\(raw: prepared)
        }
        """)
    ]
  }
}
