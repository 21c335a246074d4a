/// Activities of viewers, which the feed shows as rows, and goals that all viewers reach together.
/// Unless a comment names another `type`, the native `type` of a case is the case's name.
/// Subscriptions, gifts, raids, and cheers are ``ChatNotice``s instead.
public indirect enum ActivityEvent: Sendable, Hashable {
  case follow(user: Person, id: Text?)
  case redemption(Redemption)
  case announcement(Announcement)
  case hypeTrain(HypeTrain)
  /// Replaces the previous prediction.
  case prediction(Prediction)
  case goal(Goal)
  /// `host.activity`: the host pins, unpins, or dismisses a row of the feed.
  case handle(number: Int, NoticeHandling)
}

/// A redemption of channel points for a reward.
public struct Redemption: Sendable, Hashable {
  public var user: Person
  /// The name of the reward.
  public var title: Text
  /// The cost in points, if known.
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

/// A message that the channel's owners want viewers to notice.
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

/// A hype train, whose level rises with consecutive gifts and cheers.
public struct HypeTrain: Sendable, Hashable, Codable {
  public enum Phase: String, Sendable, CaseIterable, Codable { case begin, progress, end }

  public var phase: Phase
  public var level: Int
  /// The points of all levels together, if known.
  public var total: Int?
  /// The points collected towards the next level. ``goal`` is the number of points that the next
  /// level requires.
  public var progress: Int?
  public var goal: Int?
  /// The time at which the train ends unless the next level is reached.
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

/// A prediction, in which viewers bet points on an outcome.
public struct Prediction: Sendable, Hashable, Codable {
  public enum State: String, Sendable, CaseIterable, Codable {
    case open, locked, resolved, cancelled
  }

  public var id: Text
  public var title: Text
  public var state: State
  public var options: [Text]
  /// The points on each option, in the order of the options. Empty if unknown.
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

/// A goal, such as a number of followers to reach.
public struct Goal: Sendable, Hashable, Codable {
  /// The name of the counted quantity, which identifies the goal.
  public var title: Text
  public var count: Int
  public var target: Int

  public init(title: Text, count: Int, target: Int) {
    self.title = title
    self.count = count
    self.target = target
  }
}
