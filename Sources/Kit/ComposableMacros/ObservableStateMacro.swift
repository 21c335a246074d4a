import SwiftDiagnostics
public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@ObservableState`: dirty bits, descriptors and draining of a state.
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
      context.report(.notAStructOrEnum(macro: "ObservableState"), at: node)
      return []
    }
    let fields = declaration.storedFields
    guard check(declaration, fields, at: node, in: context) else { return [] }
    return StructState(declaration, fields).members
  }

  /// Whether the struct can be expanded; reports all that stands against it.
  private static func check(
    _ declaration: StructDeclSyntax, _ fields: [StoredField], at node: AttributeSyntax,
    in context: some MacroExpansionContext
  ) -> Bool {
    var isFine = true
    func refuse(_ message: MacroMessage, _ node: some SyntaxProtocol, _ fixIts: [FixIt] = []) {
      context.report(message, at: node, fixIts: fixIts)
      isFine = false
    }
    if fields.count > 126 { refuse(.tooManyFields(fields.count), node) }
    for member in declaration.memberBlock.members {
      guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic,
        variable.bindingSpecifier.tokenKind == .keyword(.var)
      else { continue }
      if variable.bindings.count > 1 { refuse(.severalBindings, variable) }
    }
    for field in fields {
      let variable = field.declaration
      if let observer = variable.observers {
        refuse(
          .propertyObserver(field: field.name, kind: observer.accessorSpecifier.text), observer)
      }
      if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
        refuse(.lazyField(field: field.name), lazy)
      }
      for case .attribute(let attribute) in variable.attributes {
        let name = attribute.attributeName.trimmedDescription
        guard name.first?.isUppercase == true, !name.hasPrefix("ObservationState") else { continue }
        refuse(.wrapper(field: field.name, wrapper: name), attribute)
      }
      if field.type == nil, let binding = variable.bindings.first {
        let pattern = binding.pattern
        let annotated = binding.with(
          \.pattern, PatternSyntax(IdentifierPatternSyntax(identifier: .identifier(field.name)))
        ).with(
          \.typeAnnotation,
          TypeAnnotationSyntax(
            colon: .colonToken(trailingTrivia: .space),
            type: TypeSyntax(IdentifierTypeSyntax(name: .identifier("<#Type#>"))),
            trailingTrivia: .space))
        refuse(
          .needsType(field: field.name), pattern,
          [
            FixIt(
              message: Remedy(message: "add a type annotation"),
              changes: [.replace(oldNode: Syntax(binding), newNode: Syntax(annotated))])
          ])
      }
    }
    if declaration.declaresType(named: "CodingKeys") { refuse(.ownCodingKeys, node) }
    return isFine
  }
}

extension ObservableStateMacro: MemberAttributeMacro {
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard declaration.is(StructDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
      variable.isObservable, variable.observers == nil,
      let name = variable.bindings.first?.pattern.trimmedDescription,
      let field = declaration.storedFields.first(where: { $0.name == name })
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
    guard declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self) else {
      return []
    }
    let conformances =
      declaration.is(EnumDeclSyntax.self)
      ? "Composable.ObservableState, Composable.CasePathable"
      : "Composable.ObservableState, Swift.CustomReflectable"
    return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: conformances) {}")]
  }
}
