import SwiftSyntax
import SwiftSyntaxBuilder

/// A stored, mutable property that can be observed.
struct StoredField {
  let index: Int
  let name: String
  /// The type as written or inferred from the initial value; `nil` if it cannot be inferred.
  let type: TypeSyntax?
  let isIgnored: Bool
  let declaration: VariableDeclSyntax
}

/// A `let` property of an instance.
struct StoredConstant {
  let name: String
  let hasValue: Bool
}

extension DeclGroupSyntax {
  /// The properties that have a dirty bit, in the order of declaration.
  var storedFields: [StoredField] {
    var fields: [StoredField] = []
    for member in memberBlock.members {
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isObservable,
        let binding = variable.bindings.first,
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
      else { continue }
      fields.append(
        StoredField(
          index: fields.count, name: name,
          type: binding.typeAnnotation?.type.trimmed
            ?? binding.initializer.flatMap { inferredType(of: $0.value) },
          isIgnored: variable.hasAttribute("ObservationStateIgnored"), declaration: variable))
    }
    return fields
  }

  /// The `let` properties, which have no dirty bit. Constants without an initial value are encoded
  /// and decoded.
  var storedConstants: [StoredConstant] {
    memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self),
        variable.bindingSpecifier.tokenKind == .keyword(.let), !variable.isStatic,
        let binding = variable.bindings.first,
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
      else { return nil }
      return StoredConstant(name: name, hasValue: binding.initializer != nil)
    }
  }

  func declaresType(named name: String) -> Bool {
    memberBlock.members.contains {
      $0.decl.asProtocol((any NamedDeclSyntax).self)?.name.text == name
        && !$0.decl.is(FunctionDeclSyntax.self)
    }
  }

  /// The access level of generated members: the access level of the type, but at most `public`.
  var memberAccess: String {
    for modifier in modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      default: continue
      }
    }
    return ""
  }
}

extension WithAttributesSyntax {
  func hasAttribute(_ name: String) -> Bool {
    attributes.contains {
      $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == name
    }
  }
}

extension VariableDeclSyntax {
  var isStatic: Bool {
    modifiers.contains {
      $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class)
    }
  }

  /// Whether the declaration is one stored, mutable instance property.
  var isObservable: Bool {
    guard bindingSpecifier.tokenKind == .keyword(.var), !isStatic, bindings.count == 1,
      let binding = bindings.first, binding.pattern.is(IdentifierPatternSyntax.self)
    else { return false }
    return binding.accessorBlock == nil || observers != nil
  }

  /// The `willSet` or `didSet` observer, or nil.
  var observers: AccessorDeclSyntax? {
    guard case .accessors(let list)? = bindings.first?.accessorBlock?.accessors else { return nil }
    return list.first {
      $0.accessorSpecifier.tokenKind == .keyword(.willSet)
        || $0.accessorSpecifier.tokenKind == .keyword(.didSet)
    }
  }
}

/// Returns the type of an expression if it is a literal or a call of an initializer.
func inferredType(of expression: ExprSyntax) -> TypeSyntax? {
  if expression.is(IntegerLiteralExprSyntax.self) { return "Int" }
  if expression.is(FloatLiteralExprSyntax.self) { return "Double" }
  if expression.is(BooleanLiteralExprSyntax.self) { return "Bool" }
  if expression.is(StringLiteralExprSyntax.self) { return "String" }
  if let prefix = expression.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
    return inferredType(of: prefix.expression)
  }
  guard let call = expression.as(FunctionCallExprSyntax.self) else { return nil }
  let callee = call.calledExpression
  if callee.is(ArrayExprSyntax.self) || callee.is(DictionaryExprSyntax.self) {
    return "\(raw: callee.trimmedDescription)"
  }
  return callee.isTypeName ? "\(raw: callee.trimmedDescription)" : nil
}

extension ExprSyntax {
  /// Whether the expression looks like a type name: `State`, `Chat.State`, `Log<Int>`.
  fileprivate var isTypeName: Bool {
    if let reference = self.as(DeclReferenceExprSyntax.self) {
      return reference.baseName.text.first?.isUppercase == true
    }
    if let member = self.as(MemberAccessExprSyntax.self) {
      return member.base?.isTypeName == true
        && member.declName.baseName.text.first?.isUppercase == true
    }
    if let generic = self.as(GenericSpecializationExprSyntax.self) {
      return generic.expression.isTypeName
    }
    return false
  }
}
