/// The reply of `Explain`: why a view was evaluated.
public struct Explanation: Codable, Sendable, Equatable {
  /// What leads to an evaluation.
  public enum CauseKind: String, Codable, Sendable, CaseIterable {
    /// The view was not on the screen before.
    case firstAppearance
    /// A field that it read changed.
    case ownRead
    /// An optional child of it came or went.
    case presence
    /// Its parent was evaluated and handed its tracked state down anew.
    case changedInput
  }

  public struct Cause: Codable, Sendable, Equatable {
    public var kind: CauseKind
    /// The kind of action, such as `chat.messages`; `nil` if none is known.
    public var action: String?
    /// The field of the view's state, or for a changed input of its parent's.
    public var field: String?
    /// How often; in a single evaluation 1.
    public var count: Int

    public init(kind: CauseKind, action: String?, field: String?, count: Int) {
      self.kind = kind
      self.action = action
      self.field = field
      self.count = count
    }
  }

  public struct Evaluation: Codable, Sendable, Equatable {
    /// The frame in which it was.
    public var frame: Int
    /// With the views evaluated within.
    public var durationMicroseconds: Double
    /// Without them.
    public var selfMicroseconds: Double
    /// The view looked the same as before.
    public var avoidable: Bool
    public var causes: [Cause]

    public init(
      frame: Int, durationMicroseconds: Double, selfMicroseconds: Double, avoidable: Bool,
      causes: [Cause]
    ) {
      self.frame = frame
      self.durationMicroseconds = durationMicroseconds
      self.selfMicroseconds = selfMicroseconds
      self.avoidable = avoidable
      self.causes = causes
    }
  }

  public var view: String
  public var evaluations: Int
  public var avoidable: Int
  /// The mean of all evaluations, with the views evaluated within.
  public var meanMicroseconds: Double
  public var maximumMicroseconds: Int
  /// The fields that it read last.
  public var reads: [String]
  /// Over all evaluations, most frequent first.
  public var causes: [Cause]
  /// The newest evaluations, oldest first.
  public var recent: [Evaluation]

  public init(
    view: String, evaluations: Int, avoidable: Int, meanMicroseconds: Double,
    maximumMicroseconds: Int, reads: [String], causes: [Cause], recent: [Evaluation]
  ) {
    self.view = view
    self.evaluations = evaluations
    self.avoidable = avoidable
    self.meanMicroseconds = meanMicroseconds
    self.maximumMicroseconds = maximumMicroseconds
    self.reads = reads
    self.causes = causes
    self.recent = recent
  }
}
