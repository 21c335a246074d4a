/// What viewers did that is worth a row, and what they are working towards together.
///
/// Each case names the native `type` that carries it. Subscriptions, gifts, raids and cheers are notices of the chat.
public indirect enum ActivityEvent: Sendable, Hashable {
  /// `follow`
  case follow(user: Person, id: Text?)
  /// `redemption`
  case redemption(Redemption)
  /// `announcement`
  case announcement(Announcement)
  /// `hypeTrain`
  case hypeTrain(HypeTrain)
  /// `prediction`; replaces the prediction before it.
  case prediction(Prediction)
  /// `goal`
  case goal(Goal)
  /// `host.activity`: what the host does with a row of the feed.
  case handle(number: Int, NoticeHandling)
}

/// Points of the channel were exchanged for a reward.
public struct Redemption: Sendable, Hashable {
  public var user: Person
  /// The name of the reward.
  public var title: Text
  /// Points; `nil` if that is not known.
  public var cost: Int?
  /// What the person wrote with it.
  public var text: Text?
  /// Where ``text`` has emotes; see ``EmoteRanges``.
  public var emotes: [Range<Int>]
  /// Unique within its room.
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

/// A message that the people who run the channel want to be seen.
public struct Announcement: Sendable, Hashable {
  public var user: Person?
  public var text: Text
  /// Where ``text`` has emotes; see ``EmoteRanges``.
  public var emotes: [Range<Int>]
  /// Unique within its room.
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

/// Gifts and cheers in a row lift a level.
public struct HypeTrain: Sendable, Hashable, Codable {
  public enum Phase: String, Sendable, CaseIterable, Codable { case begin, progress, end }

  public var phase: Phase
  public var level: Int
  /// Points of all levels together; `nil` if that is not known.
  public var total: Int?
  /// Points towards the next level, and how many it takes.
  public var progress: Int?
  public var goal: Int?
  /// When it ends unless the level is reached.
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

/// Viewers bet points on what will happen.
public struct Prediction: Sendable, Hashable, Codable {
  public enum State: String, Sendable, CaseIterable, Codable {
    case open, locked, resolved, cancelled
  }

  public var id: Text
  public var title: Text
  public var state: State
  public var options: [Text]
  /// Points on each option, in their order; empty if that is not known.
  public var totals: [Int]
  /// The index of the option that came true.
  public var winner: Int?
  /// When betting ends.
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

  /// How many options one has at most.
  public static let maximumOptions = 32
}

/// A number that is to be reached, such as of followers.
public struct Goal: Sendable, Hashable, Codable {
  /// What is counted; goals are told apart by it.
  public var title: Text
  public var count: Int
  public var target: Int

  public init(title: Text, count: Int, target: Int) {
    self.title = title
    self.count = count
    self.target = target
  }
}
