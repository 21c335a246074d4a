/// What an analysis of the running chat found in a batch of its messages: waves, which are groups of messages
/// that are nearly identical.
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

  public init(
    run: Int, samples: [Text] = [], mergers: [Merger] = [], members: [Members] = [],
    unanalysed: Int = 0
  ) {
    self.run = run
    self.samples = samples
    self.mergers = mergers
    self.members = members
    self.unanalysed = unanalysed
  }

  /// How many messages one run looks at.
  public static let batchLimit = 8_192
  /// How many waves there are at once, and how many begin in one run.
  public static let waveLimit = 16
  /// The longest sample, in bytes of UTF-8.
  public static let sampleLength = 512
}
