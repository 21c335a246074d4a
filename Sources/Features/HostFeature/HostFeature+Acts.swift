import ChatFeature
import Composable
import ControlFeature

// Passes the acts on platforms from the controls, where they are requests, to the chat, which shows
// them.

extension HostFeature {
  /// Shows the acts on platforms in the chat. Creates the chat when the first controller that can
  /// carry out acts connects.
  func showActs(in state: inout State) -> Effect<Action> {
    let acts = ChatActs(state.control.requests)
    // Most requests are not acts. They must not change the chat, not even in place.
    guard !acts.isEmpty || state.chat?.acts != nil else { return .none }
    if case .none = state.chat {
      guard !acts.offers.isEmpty else { return .none }
      state.makeChat()
    }
    return ChatFeature(dependencies: dependencies)
      .reduce(into: &state.chat!, action: .actsChanged(acts)).map(Action.chat)
  }
}

extension HostFeature.State {
  /// Creates the chat, with the acts that connected controllers already offer.
  mutating func makeChat() {
    chat = ChatFeature.State(historyLimit: chatHistory)
    if analysesChat == true { chat?.beginAnalysis() }
    let acts = ChatActs(control.requests)
    if !acts.isEmpty { chat?.acts = acts }
  }
}

extension ChatActs {
  init(_ requests: Requests?) {
    let ended = (requests?.endedActs ?? []).map {
      PerformedAct(number: $0.number, act: $0.act, outcome: $0.outcome)
    }
    let outstanding = (requests?.outstanding ?? []).compactMap { request in
      request.command.act.map { PerformedAct(number: request.number, act: $0) }
    }
    self.init(offers: requests?.offers ?? [], performed: ended + outstanding)
  }
}
