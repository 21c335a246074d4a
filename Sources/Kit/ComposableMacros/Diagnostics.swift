import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What users of the macros read when one cannot be expanded.
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
  /// What is written in another way than in The Composable Architecture.
  case elsewhere(String)
  case missingChild(call: String)

  var message: String {
    switch self {
    case .notAStructOrEnum(let macro): "@\(macro) applies to a struct or an enum"
    case .notAnEnum: "@CasePathable applies to an enum"
    case .notAStruct: "@Reducer applies to a struct, or to an enum of features"
    case .notAFeature(let name):
      "'\(name)' must carry one feature, a type that is a reducer, without a label"
    case .unobservedState: "'State' needs @ObservableState: a store or a parent cannot hold it"
    case .tooManyFields(let count):
      "a state has at most 126 observed fields, this one has \(count): group some in a child state"
    case .needsType(let field): "'\(field)' needs a type annotation to be observed"
    case .propertyObserver(let field, let kind):
      "'\(field)' cannot have \(kind): react to its change in the reducer, with onChange(of:)"
    case .lazyField(let field):
      "'\(field)' cannot be lazy: a state holds values, compute it in a reducer"
    case .severalBindings: "declare each observed field on its own"
    case .wrapper(let field, let wrapper):
      "'\(field)' cannot have the property wrapper @\(wrapper): the state must see its own mutations"
    case .ownCodingKeys:
      "@ObservableState makes CodingKeys itself; implement coding by hand in an extension to use others"
    case .ownMemberName(let name): "'\(name)' is a name that @ObservableState needs"
    case .ignoredWithoutField:
      "@ObservationStateIgnored applies to a stored variable; nothing else is observed"
    case .elsewhere(let remedy): remedy
    case .missingChild(let call):
      "'\(call)' needs the child's reducer: '{ Child() }', for an enum of features '{ Destination.Features(…) }', for an alert '{ Alert() }'"
    }
  }

  var diagnosticID: MessageID {
    let id =
      switch self {
      case .notAStructOrEnum: "notAStructOrEnum"
      case .notAnEnum: "notAnEnum"
      case .notAStruct: "notAStruct"
      case .notAFeature: "notAFeature"
      case .unobservedState: "unobservedState"
      case .tooManyFields: "tooManyFields"
      case .needsType: "needsType"
      case .propertyObserver: "propertyObserver"
      case .lazyField: "lazyField"
      case .severalBindings: "severalBindings"
      case .wrapper: "wrapper"
      case .ownCodingKeys: "ownCodingKeys"
      case .ownMemberName: "ownMemberName"
      case .ignoredWithoutField: "ignoredWithoutField"
      case .elsewhere: "elsewhere"
      case .missingChild: "missingChild"
      }
    return MessageID(domain: "Composable", id: id)
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
