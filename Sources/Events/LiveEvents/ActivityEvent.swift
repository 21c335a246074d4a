/// Acts of viewers that are shown as rows of the feed, and their common goals.
///
/// Each case names its native `type`. Subscriptions, gifts, raids, and cheers are notices of the
/// chat.
public indirect enum ActivityEvent: Sendable, Hashable {
  /// `follow`
  case follow(user: Person, id: Text?)
  /// `redemption`
  case redemption(Redemption)
  /// `announcement`
  case announcement(Announcement)
  /// `hypeTrain`
  case hypeTrain(HypeTrain)
  /// `prediction`; replaces the previous prediction.
  case prediction(Prediction)
  /// `goal`
  case goal(Goal)
  /// `host.activity`: an act of the host on a row of the feed.
  case handle(number: Int, NoticeHandling)
}

/// A redemption of channel points for a reward.
public struct Redemption: Sendable, Hashable {
  public var user: Person
  /// The name of the reward.
  public var title: Text
  /// The cost in points; `nil` if unknown.
  public var cost: Int?
  /// The text that the person wrote with the redemption.
  public var text: Text?
  /// The emotes in ``text``; see ``EmoteRanges``.
  public var emotes: [Range<Int>]
  /// An identifier that is unique within its room.
  public var id: Text?

  public init(
    user: Person, title: Text, cost: Int? = nil, text: Text? = nil, emotes: [Range<Int>] = [],
    id: Text? = nil
  ) {
    self.user = user
    self.title = title
    self.cost = cost
    self.text = text
    self.emotes = emotes
    self.id = id
  }
}

/// A message that the owners of the channel want to be noticed.
public struct Announcement: Sendable, Hashable {
  public var user: Person?
  public var text: Text
  /// The emotes in ``text``; see ``EmoteRanges``.
  public var emotes: [Range<Int>]
  /// An identifier that is unique within its room.
  public var id: Text?

  public init(
    user: Person? = nil, text: Text, emotes: [Range<Int>] = [], id: Text? = nil
  ) {
    self.user = user
    self.text = text
    self.emotes = emotes
    self.id = id
  }
}

/// A hype train: consecutive gifts and cheers raise its level.
public struct HypeTrain: Sendable, Hashable, Codable {
  public enum Phase: String, Sendable, CaseIterable, Codable { case begin, progress, end }

  public var phase: Phase
  public var level: Int
  /// The points of all levels together; `nil` if unknown.
  public var total: Int?
  /// The points towards the next level, and the number of points that it needs.
  public var progress: Int?
  public var goal: Int?
  /// The time at which it ends unless the level is reached.
  public var endsAt: Timestamp?

  public init(
    phase: Phase, level: Int, total: Int? = nil, progress: Int? = nil, goal: Int? = nil,
    endsAt: Timestamp? = nil
  ) {
    self.phase = phase
    self.level = level
    self.total = total
    self.progress = progress
    self.goal = goal
    self.endsAt = endsAt
  }
}

/// A prediction: viewers bet points on an outcome.
public struct Prediction: Sendable, Hashable, Codable {
  public enum State: String, Sendable, CaseIterable, Codable {
    case open, locked, resolved, cancelled
  }

  public var id: Text
  public var title: Text
  public var state: State
  public var options: [Text]
  /// The points on each option, in their order; empty if unknown.
  public var totals: [Int]
  /// The index of the option that came true.
  public var winner: Int?
  /// The end of betting.
  public var endsAt: Timestamp?

  public init(
    id: Text, title: Text, state: State, options: [Text], totals: [Int] = [], winner: Int? = nil,
    endsAt: Timestamp? = nil
  ) {
    self.id = id
    self.title = title
    self.state = state
    self.options = options
    self.totals = totals
    self.winner = winner
    self.endsAt = endsAt
  }

  /// The maximum number of options.
  public static let maximumOptions = 32
}

/// A goal: a number to be reached, such as the number of followers.
public struct Goal: Sendable, Hashable, Codable {
  /// The counted quantity, which identifies the goal.
  public var title: Text
  public var count: Int
  public var target: Int

  public init(title: Text, count: Int, target: Int) {
    self.title = title
    self.count = count
    self.target = target
  }
}
