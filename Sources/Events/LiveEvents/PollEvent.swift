/// A question to the viewers, their votes, and the outcome.
///
/// Each case names the native `type` that carries it.
public enum PollEvent: Sendable, Hashable {
  /// `poll.begin`; replaces the poll before it.
  case begin(PollQuestion)
  /// `poll.votes`: how many votes each option has by now, in the order of the options.
  case votes(pollID: Text, totals: [Int])
  /// `poll.end`; `winner` is the index of an option, `nil` if the source names none.
  case end(pollID: Text, winner: Int?)

  /// How many options one poll has at most.
  public static let maximumOptions = 32
}

/// What the viewers are asked.
public struct PollQuestion: Sendable, Hashable {
  public var id: Text
  public var title: Text
  public var options: [Text]
  /// When voting is to end; `nil` if that is not known.
  public var endsAt: Timestamp?

  public init(id: Text, title: Text, options: [Text], endsAt: Timestamp? = nil) {
    self.id = id
    self.title = title
    self.options = options
    self.endsAt = endsAt
  }
}
