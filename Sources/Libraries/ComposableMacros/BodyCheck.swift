import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Finds calls in a reducer's body that are written differently in this library, and reports the
/// replacement. It sees only source text, and knows no types except the declared cases of `Action`.
struct BodyCheck {
  /// The payload types of the cases of `Action`, as written.
  private let caseTypes: [String: String]
  private let calls: [FunctionCallExprSyntax]

  init(_ declaration: some DeclGroupSyntax) {
    let members = declaration.memberBlock.members.map(\.decl)
    let action = members.lazy.compactMap { $0.as(EnumDeclSyntax.self) }
      .first { $0.name.text == "Action" }
    let cases = (action?.observedCases ?? []).map { ($0.name, $0.valueType) }
    caseTypes = Dictionary(cases) { first, _ in first }
    let body = members.lazy.compactMap { $0.as(VariableDeclSyntax.self) }
      .first { $0.bindings.first?.pattern.trimmedDescription == "body" }
    let collector = CallCollector(viewMode: .sourceAccurate)
    if let body { collector.walk(body) }
    calls = collector.calls
  }

  func report(in context: some MacroExpansionContext) {
    for call in calls { report(call, in: context) }
  }

  private func report(_ call: FunctionCallExprSyntax, in context: some MacroExpansionContext) {
    if let reference = call.calledExpression.as(DeclReferenceExprSyntax.self) {
      reportBinding(call, reference, in: context)
    } else if let member = call.calledExpression.as(MemberAccessExprSyntax.self) {
      reportComposition(call, member.declName, in: context)
    }
  }

  private func reportBinding(
    _ call: FunctionCallExprSyntax, _ reference: DeclReferenceExprSyntax,
    in context: some MacroExpansionContext
  ) {
    guard reference.baseName.text == "BindingReducer", call.arguments.isEmpty else { return }
    let name = caseTypes.first { $0.value.hasPrefix("BindingAction<") }?.key ?? "binding"
    let fixed: ExprSyntax = "BindingReducer(action: \\.\(raw: name))"
    context.report(
      .elsewhere("'BindingReducer' needs the case of the binding actions: '\(fixed)'"), at: call,
      fixIts: [.replace(ExprSyntax(call), by: fixed.spaced(like: call), "name the case")])
  }

  private func reportComposition(
    _ call: FunctionCallExprSyntax, _ method: DeclReferenceExprSyntax,
    in context: some MacroExpansionContext
  ) {
    let name = method.baseName.text
    guard ["ifLet", "ifCaseLet", "presents", "forEach", "stack"].contains(name),
      let state = call.arguments.first?.expression.as(KeyPathExprSyntax.self),
      let field = state.onlyName,
      let action = call.arguments.last, action.label?.text == "action",
      let path = action.expression.as(KeyPathExprSyntax.self)?.onlyName
    else { return }
    let type = caseTypes[path] ?? ""
    if name == "ifLet", field.hasPrefix("$") || type.hasPrefix("PresentationAction<") {
      replace(
        call, method, by: "presents", state, "'ifLet' is for children that are not presented",
        in: context)
    } else if name == "forEach",
      ["StackActionOf<", "NavigationAction<"].contains(where: type.hasPrefix)
    {
      replace(
        call, method, by: "stack", state,
        "'forEach' does not support push and pop actions", in: context)
    }
    if call.trailingClosure == nil { context.report(.missingChild(call: name), at: method) }
  }

  /// Reports a call that must be replaced by a call with another name and with a key path without
  /// `$`.
  private func replace(
    _ call: FunctionCallExprSyntax, _ method: DeclReferenceExprSyntax, by name: String,
    _ state: KeyPathExprSyntax, _ construct: String, in context: some MacroExpansionContext
  ) {
    let field = state.onlyName.map { $0.hasPrefix("$") ? String($0.dropFirst()) : $0 } ?? ""
    let path: ExprSyntax = "\\.\(raw: field)"
    let actionPath = call.arguments.last?.expression.trimmedDescription ?? ""
    let fixIt = FixIt(
      message: Remedy("use '\(name)'"),
      changes: [
        .replace(
          oldNode: Syntax(method),
          newNode: Syntax(
            DeclReferenceExprSyntax(baseName: .identifier(name)).spaced(like: method))),
        .replace(oldNode: Syntax(state), newNode: Syntax(path.spaced(like: state))),
      ])
    context.report(
      .elsewhere("\(construct): use '.\(name)(\(path), action: \(actionPath)) { … }'"), at: method,
      fixIts: [fixIt])
  }
}

extension SyntaxProtocol {
  /// Returns the node with the trivia (white space and comments) of `other`.
  fileprivate func spaced(like other: some SyntaxProtocol) -> Self {
    with(\.leadingTrivia, other.leadingTrivia).with(\.trailingTrivia, other.trailingTrivia)
  }
}

private final class CallCollector: SyntaxVisitor {
  private(set) var calls: [FunctionCallExprSyntax] = []

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    calls.append(node)
    return .visitChildren
  }
}

extension KeyPathExprSyntax {
  /// The name in a key path with one component, such as `\.sheet`.
  fileprivate var onlyName: String? {
    guard root == nil, components.count == 1, let component = components.first?.component else {
      return nil
    }
    return component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text
  }
}
