package import Composable
package import LiveEvents

/// A question to the viewers, and their votes.
@Reducer
package struct PollFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    package var id: Text = ""
    package var title = ""
    package var options: [Option] = []
    package var isOpen = false
    /// The index of the winning option. `nil` while the poll is open, or if the source names none.
    package var winner: Int?
    /// The scheduled end of voting, if known.
    package var endsAt: Timestamp?
    /// The whole seconds until the end, rounded up, while the poll is open and its end is known.
    package var secondsLeft: Int?

    package init() {}
  }

  package struct Option: Equatable, Sendable, Codable {
    package let title: String
    package var votes = 0

    package init(title: String, votes: Int = 0) {
      self.title = title
      self.votes = votes
    }
  }

  package enum Action: Equatable, Sendable {
    /// A poll began at this time, according to the source.
    case began(PollQuestion, at: Timestamp)
    /// The current votes of each option.
    case voted([Int])
    /// Voting ended, with the index of the winning option if the source names one.
    case ended(winner: Int?)
    /// The time of the events has advanced.
    case ticked(at: Timestamp)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .began(let question, let time):
      begin(question, &state)
      countDown(to: time, &state)
    case .voted(let totals):
      var options = state.options
      for (index, votes) in zip(options.indices, totals) { options[index].votes = votes }
      if state.options != options { state.options = options }
    case .ended(let winner):
      guard state.isOpen else { break }
      state.isOpen = false
      state.winner = winner
      state.secondsLeft = nil
    case .ticked(let time):
      if state.isOpen { countDown(to: time, &state) }
    }
    return .none
  }

  /// Copies the texts, so that the question does not keep its received batch of lines alive.
  private func begin(_ question: PollQuestion, _ state: inout State) {
    state.id = question.id.owned()
    state.title = String(question.title)
    state.options = question.options.map { Option(title: String($0)) }
    state.isOpen = true
    state.winner = nil
    state.endsAt = question.endsAt
  }

  private func countDown(to time: Timestamp, _ state: inout State) {
    let seconds = state.endsAt.flatMap { Countdown.seconds(to: $0, from: time) }
    if state.secondsLeft != seconds { state.secondsLeft = seconds }
  }
}

extension PollFeature.State {
  /// Whether the remaining time is changing.
  package var isCountingDown: Bool { isOpen && endsAt != nil && secondsLeft != 0 }
}

extension PollFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: id, in: "id")
    try require(title.utf8.count <= EventLimits.titleLength, "title")
    try check(options, atMost: PollEvent.maximumOptions, "options")
    try require(countable: winner, secondsLeft, in: "winner")
    try require(times: endsAt, in: "endsAt")
  }
}

extension PollFeature.Option: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: title, in: "title")
    try require(countable: votes, in: "votes")
  }
}
