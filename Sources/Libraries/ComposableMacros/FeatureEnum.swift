import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// An enum whose cases each carry a feature.
struct FeatureEnum {
  private let declaration: EnumDeclSyntax
  private let access: String
  private let name: String
  private let cases: [EnumCase]

  init?(_ declaration: EnumDeclSyntax) {
    self.declaration = declaration
    access = declaration.memberAccess
    name = declaration.name.text
    cases = declaration.observedCases
    if cases.isEmpty { return nil }
  }

  /// The first case whose payload is not exactly one feature, or nil.
  private var odd: EnumCase? {
    cases.first { $0.values.count != 1 || $0.values[0].label != nil || $0.isFunction }
  }

  /// Whether the payload of each case is exactly one feature.
  var isComplete: Bool { odd == nil }

  func members(in context: some MacroExpansionContext) -> [DeclSyntax] {
    if let odd {
      context.report(.notAFeature(caseName: odd.name), at: declaration.name)
      return []
    }
    let features = cases.map { FeatureCase(name: $0.name, type: $0.values[0].type) }
    func rows(_ row: (FeatureCase) -> String) -> String {
      features.map(row).joined(separator: "\n")
    }
    let parameters = features.map(\.parameter).joined(separator: ", ")
    return [
      """
      @Composable.ObservableState
      @dynamicMemberLookup
      \(raw: access)enum State: Equatable, Sendable {
      \(raw: rows { "case \($0.name)(\($0.state))" })
      }
      """,
      """
      @Composable.CasePathable
      \(raw: access)enum Action: Sendable {
      \(raw: rows { "case \($0.name)(\($0.action))" })
      }
      """,
      """
      \(raw: access)struct Features: Composable.Reducer {
      \(raw: access)typealias State = \(raw: name).State
      \(raw: access)typealias Action = \(raw: name).Action
      \(raw: access)typealias Prepared = Composable.ReducerSteps<State, Action>
      \(raw: rows { "\(access)var \($0.name): \($0.reducer)" })
      \(raw: access)init(\(raw: parameters)) {
      \(raw: rows { "self.\($0.name) = \($0.name)" })
      }
      @Composable.ReducerBuilder<State, Action>
      \(raw: access)var body: some Composable.Reducer<State, Action> {
      \(raw: rows { "Composable.EmptyReducer<State, Action>().ifCaseLet(\\.\($0.name), action: \\.\($0.name)) { self.\($0.name) }" })
      }
      }
      """,
    ]
  }
}

/// A case of an enum of features: a feature, or an alert, whose reducer needs no arguments.
private struct FeatureCase {
  let name: String
  let type: String

  private var alertAction: String? {
    for prefix in ["AlertState<", "ConfirmationDialogState<"]
    where type.hasPrefix(prefix) && type.hasSuffix(">") {
      return String(type.dropFirst(prefix.count).dropLast())
    }
    return nil
  }

  var state: String { alertAction == nil ? "\(type).State" : type }
  var action: String { alertAction ?? "\(type).Action" }
  var reducer: String { alertAction.map { "Composable.Alert<\($0)>" } ?? type }

  /// The parameter for the initializer of `Features`.
  var parameter: String {
    "\(name): \(reducer)" + (alertAction == nil ? "" : " = Composable.Alert()")
  }
}
