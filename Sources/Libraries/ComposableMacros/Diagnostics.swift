import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

enum MacroMessage: DiagnosticMessage {
  case notAStructOrEnum(macro: String)
  case notAnEnum
  case notAStruct
  case notAFeature(caseName: String)
  case unobservedState
  case tooManyFields(Int)
  case needsType(field: String)
  case propertyObserver(field: String, kind: String)
  case lazyField(field: String)
  case severalBindings
  case wrapper(field: String, wrapper: String)
  case ownCodingKeys
  case ownMemberName(String)
  case ignoredWithoutField
  /// A construct of The Composable Architecture that is written differently here, with the remedy.
  case elsewhere(String)
  case missingChild(call: String)

  var message: String {
    switch self {
    case .notAStructOrEnum(let macro): "@\(macro) can only be applied to a struct or an enum"
    case .notAnEnum: "@CasePathable can only be applied to an enum"
    case .notAStruct: "@Reducer can only be applied to a struct or to an enum of features"
    case .notAFeature(let name):
      "the case '\(name)' must have exactly one unlabeled payload, whose type is a reducer"
    case .unobservedState: "'State' needs @ObservableState so that a store or a parent can hold it"
    case .tooManyFields(let count):
      "a state can have at most 126 observed fields, not \(count): move some to a child state"
    case .needsType(let field): "'\(field)' needs a type annotation to be observed"
    case .propertyObserver(let field, let kind):
      "'\(field)' cannot have \(kind): use onChange(of:) in the reducer"
    case .lazyField(let field):
      "'\(field)' cannot be lazy: compute the value in a reducer and store it"
    case .severalBindings: "declare each observed field in a separate declaration"
    case .wrapper(let field, let wrapper):
      "'\(field)' cannot have the property wrapper @\(wrapper): the state must detect its own mutations"
    case .ownCodingKeys:
      "@ObservableState generates CodingKeys: to use other keys, implement coding in an extension"
    case .ownMemberName(let name):
      "@ObservableState generates a type named '\(name)': rename this declaration"
    case .ignoredWithoutField:
      "@ObservationStateIgnored can only be applied to a stored variable"
    case .elsewhere(let remedy): remedy
    case .missingChild(let call):
      "'\(call)' needs the child's reducer: '{ Child() }', '{ Destination.Features(…) }' for an enum of features, or '{ Alert() }' for an alert"
    }
  }

  /// An identifier with the name of the case.
  var diagnosticID: MessageID {
    MessageID(domain: "Composable", id: String("\(self)".prefix { $0 != "(" }))
  }

  var severity: DiagnosticSeverity {
    switch self {
    case .unobservedState: .warning
    default: .error
    }
  }
}

extension MacroExpansionContext {
  func report(_ message: MacroMessage, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
    diagnose(Diagnostic(node: Syntax(node), message: message, fixIts: fixIts))
  }
}
