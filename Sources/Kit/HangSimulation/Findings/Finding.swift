/// Work of a screen that could be left out: where it is done, what causes it, what it costs, and what to do.
///
/// Findings are derived from what a run did, without being asked for. Each compares work that could be left out with all
/// work of its sort and with the time of the run. Work that takes less than a hundredth of the thread's time is no finding,
/// unless it takes a quarter of a frame at once. Effects that are wasted and collections that grow without limit are
/// findings whatever they cost now.
public struct Finding: Hashable, Sendable {
  /// What kind of work it is.
  public enum Kind: String, Sendable, CaseIterable {
    /// A view is evaluated again and again, and looks the same afterwards.
    case overObservation
    /// A view is evaluated for a small part of what it shows; the rest looks the same afterwards.
    case coarseView
    /// What stays on the screen gets another identity, so that it is created again.
    case identityChurn
    /// Many actions do what one could do.
    case chattyActions
    /// Events come faster than frames, and each is reduced on its own.
    case unthrottledInput
    /// Effects are started whose results nobody waits for.
    case wastedEffects
    /// An effect computes on the lane of the store, where nothing else runs meanwhile. Measured.
    case laneHeld
    /// The work of a view or an action grows with a collection of the state. Measured.
    case growth
    /// An action copies a large collection. Measured.
    case largeCopies
    /// A view or an action takes long, whatever the state. Measured.
    case heavyWork
    /// An action takes long because it makes the state of something that appears. Measured.
    case initialiser
    /// A collection of the state grows for as long as the screen is used.
    case unboundedGrowth

    /// Whether it rests on what was measured on the machine that simulates, rather than on the costs of the device.
    public var isMeasured: Bool {
      switch self {
      case .overObservation, .coarseView, .identityChurn, .chattyActions, .unthrottledInput,
        .wastedEffects, .unboundedGrowth:
        false
      case .laneHeld, .growth, .largeCopies, .heavyWork, .initialiser: true
      }
    }
  }

  /// What kind of work it is.
  public var kind: Kind
  /// The device on which it costs most.
  public var device: String
  /// The variant of the screen.
  public var variant: String
  /// The name of the view, of the kind of action or of the effect; of ``Kind/unboundedGrowth`` the path of the field.
  public var subject: String
  /// The path of the field that is behind it; `nil` if no single one is.
  public var field: String?
  /// The kind of action that is behind it, if ``subject`` is not an action; `nil` if no single one is.
  public var action: String?
  /// Time of the screen's thread that it takes: nanoseconds in each second of the run, on average. 0 if it is not known.
  public var cost: Int64
  /// What was counted or measured, in words.
  public var evidence: String
  /// What to do about it.
  public var advice: String
}
