import Composable
import CustomDump

extension TestStore {
  /// Reduces `action`, lets its effects start, and compares the state with what is expected.
  func apply(
    _ waiting: Waiting, _ expected: ((inout State) throws -> Void)?, verb: String,
    at site: CallSite
  ) {
    let action = waiting.action
    let before = store.state
    let absent = store.actionsWithoutChild
    let unnoted = store.sendChecked(action, origin: waiting.origin)
    if !unnoted.isEmpty {
      fail(
        """
        Fields changed without being noted, so that no observer would be told: \
        \(unnoted.joined(separator: ", "))
        """, at: site)
    }
    if store.actionsWithoutChild > absent {
      fail(
        """
        An action was \(verb) for a child that does not exist, and dropped: \(dump(action))
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
        ? "State was not expected to change, but it did" : "State is not what was expected"
      return fail("\(title):\n\n\(difference(expected: expected, actual: after))", at: site)
    }
    if expectation != nil, before == after {
      fail("Expected the state to change, but it did not: leave out the closure.", at: site)
    }
  }

  /// What the closure mentions must hold; it may start from the state before or from that after.
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
          "State is not what was expected:\n\n\(difference(expected: mentioned, actual: after))",
          at: site)
      }
    }
    show(
      "Skipped changes of state:\n\n\(difference(expected: expected, actual: after))", at: site)
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
      A child returned the effect .dismiss, but no parent presents it: its parent needs \
      presents(_:action:) in place of ifLet(_:action:).
      """
    case .lateAction:
      """
      An effect that had ended sent an action, which was dropped: its 'send' was kept, by a detached \
      task or a callback, longer than the effect ran.
      """
    case .endlessActions(let limit, let kinds):
      """
      More than \(limit) actions followed from one: they send each other in a circle, the last of \
      them \(kinds.joined(separator: ", "))
      """
    }
  }
}
