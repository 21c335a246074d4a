/// Events of a poll: the question to the viewers, their votes, and the outcome.
///
/// Each case names its native `type`.
public enum PollEvent: Sendable, Hashable {
  /// `poll.begin`; replaces the previous poll.
  case begin(PollQuestion)
  /// `poll.votes`: the current number of votes of each option, in the order of the options.
  case votes(pollID: Text, totals: [Int])
  /// `poll.end`; `winner` is the index of an option, or `nil` if the source names none.
  case end(pollID: Text, winner: Int?)

  /// The maximum number of options of a poll.
  public static let maximumOptions = 32
}

/// The question of a poll.
public struct PollQuestion: Sendable, Hashable {
  public var id: Text
  public var title: Text
  public var options: [Text]
  /// The scheduled end of voting; `nil` if unknown.
  public var endsAt: Timestamp?

  public init(id: Text, title: Text, options: [Text], endsAt: Timestamp? = nil) {
    self.id = id
    self.title = title
    self.options = options
    self.endsAt = endsAt
  }
}
