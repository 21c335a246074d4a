package import Composable

/// A feature that answers each action with an effect.
@Reducer
package struct EchoFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var answers = 0

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    /// The effect sends an action directly, which is queued.
    case called
    /// The effect runs a task on the lane.
    case asked
    /// The effect runs a task on the shared pool.
    case askedPool
    case answered
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .called: return .send(.answered)
    case .asked: return .run(name: "echo") { send in send(.answered) }
    case .askedPool: return .run(name: "echo", onLane: false) { send in send(.answered) }
    case .answered:
      state.answers &+= 1
      return .none
    }
  }
}
