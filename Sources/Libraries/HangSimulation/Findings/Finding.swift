/// Avoidable work of a screen: where it is done, its cause, its cost, and the remedy.
///
/// Each run derives findings automatically. A rule compares the avoidable work with all work of the
/// same kind and with the duration of the run. Work is reported if it takes at least 1 % of the
/// screen thread's time, or a quarter of a frame in one piece. Wasted effects and collections that
/// grow without limit are reported regardless of their current cost.
public struct Finding: Hashable, Sendable {
  /// The kind of avoidable work.
  public enum Kind: String, Sendable, CaseIterable {
    /// A view is evaluated repeatedly, and its output does not change.
    case overObservation
    /// A view is evaluated because of a small part of its content; the rest stays the same.
    case coarseView
    /// Content that stays on the screen gets a new identity, so its views are created again.
    case identityChurn
    /// Many actions do the work of one.
    case chattyActions
    /// Events arrive faster than frames, and each is reduced separately.
    case unthrottledInput
    /// Effects are started, and most of their results are never used.
    case wastedEffects
    /// An effect computes on the store's lane and blocks it. Measured.
    case laneHeld
    /// The work of a view or an action grows with a collection in the state. Measured.
    case growth
    /// An action copies a large collection. Measured.
    case largeCopies
    /// A view or an action takes long, independent of the size of the state. Measured.
    case heavyWork
    /// An action takes long because it creates the state of content that appears. Measured.
    case initialiser
    /// A collection in the state grows for the whole run.
    case unboundedGrowth

    /// Whether the finding is based on measurements and not on the device's costs.
    public var isMeasured: Bool {
      switch self {
      case .overObservation, .coarseView, .identityChurn, .chattyActions, .unthrottledInput,
        .wastedEffects, .unboundedGrowth:
        false
      case .laneHeld, .growth, .largeCopies, .heavyWork, .initialiser: true
      }
    }
  }

  /// The kind of avoidable work.
  public var kind: Kind
  /// The device with the highest cost.
  public var device: String
  /// The variant of the screen.
  public var variant: String
  /// The name of the view, action kind, or effect, or the path of a growing collection.
  public var subject: String
  /// The path of the field that causes the work; `nil` if no single field does.
  public var field: String?
  /// The kind of action that causes the work, if ``subject`` is not an action; `nil` if no single
  /// kind does.
  public var action: String?
  /// The average cost on the screen's thread, in nanoseconds per second; 0 if unknown.
  public var cost: Int64
  /// The counts or measurements that support the finding, as text.
  public var evidence: String
  /// The proposed remedy.
  public var advice: String
}
