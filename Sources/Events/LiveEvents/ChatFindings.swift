/// What an analysis of the running chat found in a batch of its messages: waves, which are groups of messages
/// that are nearly identical, and highlights.
public struct ChatFindings: Sendable, Hashable {
  /// Messages in a row that belong to a wave.
  public struct Members: Sendable, Hashable {
    /// The first of them, counted from the first message of the batch; negative for one of an earlier batch.
    public var offset: Int
    public var count: Int
    /// The number of their wave.
    public var wave: Int

    public init(offset: Int, count: Int, wave: Int) {
      (self.offset, self.count, self.wave) = (offset, count, wave)
    }
  }

  /// Two waves that turned out to be one, which keeps the number of the older.
  public struct Merger: Sendable, Hashable {
    public var wave: Int
    public var into: Int

    public init(wave: Int, into: Int) { (self.wave, self.into) = (wave, into) }
  }

  /// The number of the run that found this, from 1.
  public var run: Int
  /// A text of each wave that begins, the waves numbered on from the newest.
  public var samples: [Text]
  /// Applied after the waves begin, and before ``members``.
  public var mergers: [Merger]
  public var members: [Members]
  /// How many messages of the batch were not looked at.
  public var unanalysed: Int
  /// The highlights that were found, or of which more is known than before; the oldest first.
  public var highlights: [ChatHighlight]

  public init(
    run: Int, samples: [Text] = [], mergers: [Merger] = [], members: [Members] = [],
    unanalysed: Int = 0, highlights: [ChatHighlight] = []
  ) {
    self.run = run
    self.samples = samples
    self.mergers = mergers
    self.members = members
    self.unanalysed = unanalysed
    self.highlights = highlights
  }

  /// How many messages one run looks at.
  public static let batchLimit = 8_192
  /// How many waves there are at once, and how many begin in one run.
  public static let waveLimit = 16
  /// The longest sample, in bytes of UTF-8.
  public static let sampleLength = 512
  /// How many highlights there are at once.
  public static let highlightLimit = 64
}

/// A time in which a chat was busier than before.
public struct ChatHighlight: Sendable, Hashable, Codable {
  /// The beginning of its first second.
  public var startedAt: Timestamp
  /// How many seconds it has lasted.
  public var seconds: Int
  public var messages: Int
  /// The number of messages in its busiest ten seconds, and what that was on average in the five minutes before it.
  public var busiest: Int
  public var usual: Int
  /// The words that mark it, the most striking first; at most ``wordLimit``.
  public var words: [Text]

  public init(
    startedAt: Timestamp, seconds: Int, messages: Int, busiest: Int, usual: Int, words: [Text] = []
  ) {
    self.startedAt = startedAt
    self.seconds = seconds
    self.messages = messages
    self.busiest = busiest
    self.usual = usual
    self.words = words
  }

  public static let wordLimit = 5

  /// The end of its last second.
  public var endedAt: Timestamp { startedAt + Timestamp(seconds) * 1_000 }
}
