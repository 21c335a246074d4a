package import Composable

/// A counter that keys or a timer change, and that shows its prime factors on request.
@Reducer
package struct Counter {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var count: Int
    package var isTimerOn = false
    /// The prime factors of the count. Empty until the factors were requested and found.
    package var factors: [Int] = []

    package init(count: Int = 0) { self.count = count }
  }

  package enum Action: Equatable, Sendable {
    case plusTapped
    case minusTapped
    case timerTapped
    case timerTicked
    case factorsTapped
    case factorsFound([Int])
  }

  private enum EffectName { case timer, factors }

  private let clock: any Clock<Duration>
  private let factors: @Sendable (Int) async throws -> [Int]

  /// - Parameters:
  ///   - clock: The clock of the timer, which tests advance manually.
  ///   - factors: Finds the prime factors of a number.
  package init(
    clock: any Clock<Duration>,
    factors: @escaping @Sendable (Int) async throws -> [Int] = primeFactors
  ) {
    self.clock = clock
    self.factors = factors
  }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .plusTapped, .timerTicked: return count(&state, by: 1)
    case .minusTapped: return count(&state, by: -1)

    case .timerTapped:
      state.isTimerOn.toggle()
      guard state.isTimerOn else { return .cancel(id: EffectName.timer) }
      return .timer(every: .seconds(1), clock: clock, name: "Counter.timer") { _ in .timerTicked }
        .cancellable(id: EffectName.timer)

    case .factorsTapped:
      // The search for factors runs outside the lane, so that the lane can run other actions, such
      // as one that cancels the search.
      return .run(name: "Counter.factors", onLane: false) { [factors, count = state.count] send in
        send(.factorsFound(try await factors(count)))
      }
      .cancellable(id: EffectName.factors, cancelInFlight: true)

    case .factorsFound(let factors):
      state.factors = factors
      return .none
    }
  }

  // Shared by three actions. If they sent a common action instead, each change would take two
  // steps.
  private func count(_ state: inout State, by step: Int) -> Effect<Action> {
    state.count += step
    state.factors = []
    return .cancel(id: EffectName.factors)
  }
}
