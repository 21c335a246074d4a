package import Composable
package import LiveEvents

/// The feed of viewers' activity, newest first: follows, gifts, raids, cheers, and redemptions.
/// Includes the hype train, goals, and prediction.
@Reducer
package struct ActivityFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    package var feed = ActivityFeed()
    package var train: HypeTrain?
    package var prediction: Prediction?
    /// At most ``ActivityFeature/maximumGoals`` goals, in order of arrival.
    package var goals: [Goal] = []

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case followed(Person, at: Timestamp, from: Origin = .none)
    case redeemed(Redemption, at: Timestamp, from: Origin = .none)
    case announced(Announcement, at: Timestamp, from: Origin = .none)
    /// The chat received a notice.
    case noticed(ChatNotice, at: Timestamp, from: Origin = .none)
    case trainMoved(HypeTrain, at: Timestamp, from: Origin = .none)
    case predicted(Prediction)
    case counted(Goal)
    /// A moderator removed a message, or all messages from a person.
    case retracted(Retraction)
    case pinned(Int)
    case unpinned(Int)
    case dismissed(Int)
  }

  /// The messages whose words are removed from the feed. The rows themselves stay.
  package enum Retraction: Equatable, Sendable {
    case message(Text)
    case person(Person)
    case everything
  }

  /// The maximum number of goals. A further goal replaces the oldest.
  package static let maximumGoals = 4

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .followed(let person, let time, let origin):
      state.feed.add(.init(.follow, by: person, at: time, from: origin))
    case .redeemed(let redemption, let time, let origin):
      var row = ActivityRow(
        .redemption, by: redemption.user, count: redemption.cost ?? 0, at: time, from: origin)
      row.title = String(redemption.title)
      row.setText(redemption.text, redemption.emotes, by: redemption.user, in: redemption.id)
      state.feed.add(row)
    case .announced(let announcement, let time, let origin):
      var row = ActivityRow(.announcement, by: announcement.user, at: time, from: origin)
      row.setText(
        announcement.text, announcement.emotes, by: announcement.user, in: announcement.id)
      state.feed.add(row)
    case .noticed(let notice, let time, let origin):
      state.feed.add(notice, count: notice.count, at: time, from: origin)
    case .trainMoved(let train, let time, let origin):
      guard train.phase == .end else {
        if state.train != train { state.train = train }
        break
      }
      state.train = nil
      state.feed.add(.init(.hypeTrain, by: nil, count: train.level, at: time, from: origin))
    case .predicted(let prediction):
      state.prediction = prediction.state == .cancelled ? nil : prediction.owned()
    case .counted(let goal): count(goal, &state)
    case .retracted(let retraction): state.feed.retract(retraction)
    case .pinned(let number): state.feed.pin(number, true)
    case .unpinned(let number): state.feed.pin(number, false)
    case .dismissed(let number): state.feed.dismiss(number)
    }
    return .none
  }

  private func count(_ goal: Goal, _ state: inout State) {
    var goals = state.goals
    if let index = goals.firstIndex(where: { $0.title == goal.title }) {
      goals[index] = Goal(title: goals[index].title, count: goal.count, target: goal.target)
    } else {
      if goals.count >= Self.maximumGoals { goals.removeFirst() }
      goals.append(Goal(title: goal.title.owned(), count: goal.count, target: goal.target))
    }
    if goals != state.goals { state.goals = goals }
  }
}

extension Prediction {
  /// Returns a copy that owns its texts, so that the prediction does not keep its batch of lines
  /// alive.
  fileprivate func owned() -> Prediction {
    Prediction(
      id: id.owned(), title: title.owned(), state: state, options: options.map { $0.owned() },
      totals: totals, winner: winner, endsAt: endsAt)
  }
}

extension ActivityFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(feed, "feed")
    try check(train, "train")
    try check(prediction, "prediction")
    try check(goals, atMost: ActivityFeature.maximumGoals, "goals")
  }
}
