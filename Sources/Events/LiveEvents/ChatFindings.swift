/// What an analysis found in a batch of chat messages: highlights, and bursts of duplicates, which
/// are groups of nearly identical messages. The interface calls a burst a wave.
public struct ChatFindings: Sendable, Hashable {
  /// Consecutive messages that belong to the same burst of duplicates.
  public struct Members: Sendable, Hashable {
    /// The index of the first message in the batch. Negative for a message of an earlier batch.
    public var offset: Int
    public var count: Int
    /// The number of the burst of duplicates.
    public var burst: Int

    public init(offset: Int, count: Int, burst: Int) {
      (self.offset, self.count, self.burst) = (offset, count, burst)
    }
  }

  /// The merger of two bursts of duplicates that turned out to be one, under the number of the
  /// older burst.
  public struct Merger: Sendable, Hashable {
    public var burst: Int
    public var into: Int

    public init(burst: Int, into: Int) { (self.burst, self.into) = (burst, into) }
  }

  /// The number of the run that produced the findings, starting at 1.
  public var run: Int
  /// A sample message of each new burst of duplicates. New bursts are numbered consecutively.
  public var samples: [Text]
  /// The mergers, applied after the new bursts are added and before ``members``.
  public var mergers: [Merger]
  public var members: [Members]
  /// The number of messages of the batch that were not analysed.
  public var unanalysed: Int
  /// The new and updated highlights, oldest first.
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

  /// The maximum number of messages that one run analyses.
  public static let batchLimit = 8_192
  /// The maximum number of concurrent bursts of duplicates, and of new bursts in one run.
  public static let burstLimit = 16
  /// The maximum length of a sample, in bytes of UTF-8.
  public static let sampleLength = 512
  /// The maximum number of concurrent highlights.
  public static let highlightLimit = 64
}

/// A period in which the chat was busier than before.
public struct ChatHighlight: Sendable, Hashable, Codable {
  /// The start of the first second.
  public var startedAt: Timestamp
  /// The duration in seconds.
  public var seconds: Int
  public var messages: Int
  /// The number of messages in the busiest ten seconds. ``usual`` is the average number per ten
  /// seconds in the five minutes before.
  public var busiest: Int
  public var usual: Int
  /// The characteristic words, most striking first, at most ``wordLimit``.
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

  /// The end of the last second.
  public var endedAt: Timestamp { startedAt + Timestamp(seconds) * 1_000 }
}
