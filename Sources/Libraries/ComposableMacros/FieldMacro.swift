public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro `@ObservationStateField(i)`, which adds storage and accessors that record changes.
public enum ObservationStateFieldMacro {}

extension ObservationStateFieldMacro: AccessorMacro {
  public static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isObservable,
      let name = variable.bindings.first?.pattern.trimmedDescription.unquoted,
      let index = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression
        .trimmedDescription
    else { return [] }
    return [
      """
      @storageRestrictions(initializes: _\(raw: name))
      init(initialValue) {
      _\(raw: name) = initialValue
      }
      """,
      """
      get {
      _\(raw: name)
      }
      """,
      """
      set {
      _$changes.set(\(raw: index), from: _\(raw: name), to: newValue)
      _\(raw: name) = newValue
      }
      """,
      """
      _modify {
      let access = _$changes.enter(\(raw: index), &_\(raw: name))
      defer {
      _$changes.leave(\(raw: index), &_\(raw: name), access)
      }
      yield &_\(raw: name)
      }
      """,
    ]
  }
}

extension ObservationStateFieldMacro: PeerMacro {
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self), variable.isObservable,
      let binding = variable.bindings.first
    else { return [] }
    let name = binding.pattern.trimmedDescription.unquoted
    let type = binding.typeAnnotation.map { ": \($0.type.trimmedDescription)" } ?? ""
    let value = binding.initializer.map { " = \($0.value.trimmedDescription)" } ?? ""
    // The storage is `fileprivate`, because the descriptors in a nested type access it.
    return ["fileprivate var _\(raw: name)\(raw: type)\(raw: value)"]
  }
}

/// The macro `@ObservationStateIgnored`, an empty mark that `@ObservableState` reads.
public enum ObservationStateIgnoredMacro: PeerMacro {
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
