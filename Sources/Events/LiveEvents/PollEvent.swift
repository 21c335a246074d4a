/// Events of a poll among the viewers. The native `type` of a case is `poll.` followed by its name.
public enum PollEvent: Sendable, Hashable {
  /// Replaces the previous poll.
  case begin(PollQuestion)
  /// The current number of votes of each option, in the order of the options.
  case votes(pollID: Text, totals: [Int])
  /// `winner` is the index of the winning option, if the source names one.
  case end(pollID: Text, winner: Int?)

  /// The maximum number of options of a poll.
  public static let maximumOptions = 32
}

public struct PollQuestion: Sendable, Hashable {
  public var id: Text
  public var title: Text
  public var options: [Text]
  /// The scheduled end of voting, if known.
  public var endsAt: Timestamp?

  public init(id: Text, title: Text, options: [Text], endsAt: Timestamp? = nil) {
    self.id = id
    self.title = title
    self.options = options
    self.endsAt = endsAt
  }
}
