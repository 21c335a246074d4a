public import Composable

extension TestStore {
  /// Receives the next action of an effect, which must match the given case.
  ///
  ///     await store.receive(\.response.success) { $0.isLoading = false }
  public nonisolated(nonsending) func receive<Value>(
    _ kind: CaseKey<Action, Value>, timeout: Duration = .zero,
    assert expected: ((inout State) throws -> Void)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async where Action: CasePathable {
    let path = Action._$cases[keyPath: kind]
    await receive(
      matching: { path.extract($0) != nil }, timeout, description: path.name, difference: nil,
      expected,
      at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Receives the next action of an effect, which must satisfy a condition.
  public nonisolated(nonsending) func receive(
    where isMatching: (Action) -> Bool, timeout: Duration = .zero,
    assert expected: ((inout State) throws -> Void)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async {
    await receive(
      matching: isMatching, timeout, description: "an action that matches", difference: nil,
      expected,
      at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  nonisolated(nonsending) func receive(
    matching isMatching: (Action) -> Bool, _ timeout: Duration, description: String,
    difference: ((Action) -> String?)?, _ expected: ((inout State) throws -> Void)?,
    at site: CallSite
  ) async {
    // In a non-exhaustive test, actions are skipped until one matches.
    await wait(timeout) {
      exhaustivity == .on ? !received.isEmpty : received.contains(where: isMatching)
    }
    if exhaustivity != .on, received.contains(where: isMatching) {
      let skipped = Array(received.prefix { !isMatching($0) })
      if !skipped.isEmpty { show("Skipped received actions: \(list(skipped))", at: site) }
      while let next = received.first, !isMatching(next) { skipFirst() }
    }
    guard !received.isEmpty else {
      let running = store.runningEffectDescriptions
      fail(
        "Expected to receive \(description), but received no action. "
          + (running.isEmpty
            ? "No effect is in flight that could send one."
            : "In flight: \(running.joined(separator: ", ")). Does a clock need to be advanced?"),
        at: site)
      return
    }
    let action = received[0]
    guard isMatching(action) else {
      fail(
        "Received an unexpected action; expected \(description).\n"
          + (difference?(action) ?? "Received: \(dump(action))"), at: site)
      if exhaustivity != .on { return }
      skipFirst()
      return
    }
    apply(removeFirst(), expected, verb: "received", at: site)
  }
}

extension TestStore where Action: Equatable {
  /// Receives the next action of an effect, which must equal `action`.
  ///
  /// The action is reduced now, not when the effect sent it.
  /// - Parameters:
  ///   - timeout: The real time to wait for effects that use something other than the test's clock.
  ///     By default, there is no wait.
  ///   - expected: Receives the state from before the action, and changes it to the state that is
  ///     expected afterwards.
  public nonisolated(nonsending) func receive(
    _ action: Action, timeout: Duration = .zero,
    assert expected: ((inout State) throws -> Void)? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async {
    await receive(
      matching: { $0 == action }, timeout, description: dump(action),
      difference: { self.difference(expected: action, actual: $0) }, expected,
      at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}

extension TestStore where Action: CasePathable {
  /// Receives the next action of an effect, which must be the given case with payload `value`.
  public nonisolated(nonsending) func receive<Value: Equatable>(
    _ kind: CaseKey<Action, Value>, _ value: Value, timeout: Duration = .zero,
    assert expected: ((inout State) throws -> Void)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async {
    let path = Action._$cases[keyPath: kind]
    let action = path.embed(value)
    await receive(
      matching: { path.extract($0) == value }, timeout, description: dump(action),
      difference: { self.difference(expected: action, actual: $0) }, expected,
      at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Sends the action at `path` with the payload `value`, for example an action of an element.
  ///
  ///     await store.send(\.rows[id: 3].renamed, "Ada") { $0.rows[id: 3]?.name = "Ada" }
  @discardableResult
  public nonisolated(nonsending) func send<Value>(
    _ path: CaseKey<Action, Value>, _ value: Value,
    assert expected: ((inout State) throws -> Void)? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async -> TestEffects<State, Action> {
    await send(
      Action._$cases[keyPath: path].embed(value), assert: expected, fileID: fileID,
      filePath: filePath, line: line, column: column)
  }

  /// Sends the action at `path`, which has no payload.
  @discardableResult
  public nonisolated(nonsending) func send(
    _ path: CaseKey<Action, Void>, assert expected: ((inout State) throws -> Void)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) async -> TestEffects<State, Action> {
    await send(
      Action._$cases[keyPath: path].embed(()), assert: expected, fileID: fileID,
      filePath: filePath, line: line, column: column)
  }
}
