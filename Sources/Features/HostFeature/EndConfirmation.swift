package import Composable

/// A question in front of the host's screen: whether to end the stream.
@Reducer
package struct EndConfirmation {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The number of viewers when the question was asked.
    package var viewers: Int
    /// The reason why the last attempt to end the stream failed, if the question is repeated.
    package var failure: String?

    package init(viewers: Int, failure: String? = nil) {
      self.viewers = viewers
      self.failure = failure
    }
  }

  package enum Action: Equatable, Sendable {
    case confirmTapped
    case cancelTapped
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    case confirmed
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .confirmTapped: .merge(.send(.delegate(.confirmed)), .dismiss)
    case .cancelTapped: .dismiss
    case .delegate: .none
    }
  }
}
