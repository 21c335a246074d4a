import Composable
import CustomDump

extension TestStore {
  /// Reduces `action`, lets its effects start, and compares the state with the expectation.
  func apply(
    _ waiting: Waiting, _ expected: ((inout State) throws -> Void)?, verb: String,
    at site: CallSite
  ) {
    let action = waiting.action
    let before = store.state
    let absent = store.actionsWithoutChild
    let unrecorded = store.sendChecked(action, origin: waiting.origin)
    if !unrecorded.isEmpty {
      fail(
        """
        Fields changed without being recorded, so no observer would be called: \
        \(unrecorded.joined(separator: ", "))
        """, at: site)
    }
    if store.actionsWithoutChild > absent {
      fail(
        """
        An action was \(verb) for a child that does not exist, and was dropped: \(dump(action))
        """, at: site)
    }
    let after = store.state
    lane.run()
    do {
      switch exhaustivity {
      case .on: try compare(before, after, expected, at: site)
      case .off(_): try compareSome(before, after, expected, at: site)
      }
    } catch {
      fail("The expectation threw an error: \(error)", at: site)
    }
  }

  private func compare(
    _ before: State, _ after: State, _ expectation: ((inout State) throws -> Void)?,
    at site: CallSite
  ) throws {
    var expected = before
    try expectation?(&expected)
    guard expected == after else {
      let title =
        expectation == nil
        ? "The state was not expected to change, but it did" : "The state is not as expected"
      return fail("\(title):\n\n\(difference(expected: expected, actual: after))", at: site)
    }
    if expectation != nil, before == after {
      fail("Expected the state to change, but it did not: remove the closure.", at: site)
    }
  }

  /// Checks only the fields that the closure changes. The closure may start from the state before
  /// the action or from the state after it.
  private func compareSome(
    _ before: State, _ after: State, _ expectation: ((inout State) throws -> Void)?,
    at site: CallSite
  ) throws {
    var expected = before
    try expectation?(&expected)
    if expected == after { return }
    if let expectation {
      var mentioned = after
      try expectation(&mentioned)
      guard mentioned == after else {
        return fail(
          "The state is not as expected:\n\n\(difference(expected: mentioned, actual: after))",
          at: site)
      }
    }
    show(
      "Skipped state changes:\n\n\(difference(expected: expected, actual: after))", at: site)
  }

  func difference<Value>(expected: Value, actual: Value) -> String {
    let text = diff(expected, actual, format: .proportional) ?? "(no difference can be shown)"
    return text + "\n\n(Expected: −, actual: +)"
  }

  func dump(_ value: some Any) -> String { String(customDumping: value) }

  func list(_ actions: [Action]) -> String {
    actions.map { "\n  " + dump($0).replacing("\n", with: "\n  ") }.joined()
  }

  static func describe(_ failure: Store<State, Action>.Failure) -> String {
    switch failure {
    case .uncaughtError(let effect, let error):
      "The effect '\(effect)' ended with an error that it does not catch: \(error)"
    case .dismissedWithoutParent:
      """
      A child returned the effect .dismiss, but no parent presents the child: use \
      presents(_:action:) in the parent instead of ifLet(_:action:).
      """
    case .lateAction:
      """
      An effect sent an action after it had ended, and the action was dropped: a detached task \
      or a callback kept its 'send' for too long.
      """
    case .endlessActions(let limit, let kinds):
      """
      More than \(limit) actions followed from one action, because these actions send each other: \
      \(kinds.joined(separator: ", "))
      """
    }
  }
}
