/// Reports of a room's sources, which are the programs that send a platform's events. Each case is
/// documented with its native `type`.
public indirect enum SourceEvent: Sendable, Hashable {
  /// `source.state`; replaces the source's previous state.
  case state(SourceHealth)
  /// `gap`: the events of a period are missing.
  case gap(MissedTime)
}

/// The state of a source.
public struct SourceHealth: Sendable, Hashable, Codable {
  public enum Connection: String, Sendable, CaseIterable, Codable {
    /// Not connected yet, or no longer connected.
    case connecting
    case live
    /// Connected, but late in delivering events.
    case behind
    /// Refused by the platform. The source does not retry automatically.
    case refused
    case ended
  }

  /// The name of the source, unique within its room.
  public var source: Text
  public var state: Connection
  /// The platform, such as `twitch`, if known.
  public var platform: Text?
  /// A human-readable reason for the state.
  public var reason: Text?
  /// How late the source's events are, in milliseconds.
  public var behindMilliseconds: Int?
  /// The number of events known to be missing. ``backfilled`` counts events received later from
  /// another origin, and ``duplicate`` counts events received repeatedly.
  public var lost: Int
  public var backfilled: Int
  public var duplicate: Int
  /// The number of messages and deliveries that could not be shown, for example because their kind
  /// is unknown.
  public var notShown: Int?

  public init(
    source: Text, state: Connection, platform: Text? = nil, reason: Text? = nil,
    behindMilliseconds: Int? = nil, lost: Int = 0, backfilled: Int = 0, duplicate: Int = 0,
    notShown: Int? = nil
  ) {
    self.source = source
    self.state = state
    self.platform = platform
    self.reason = reason
    self.behindMilliseconds = behindMilliseconds
    self.lost = lost
    self.backfilled = backfilled
    self.duplicate = duplicate
    self.notShown = notShown
  }

  /// Whether no further events of the source are expected.
  package var isOver: Bool {
    switch state {
    case .refused, .ended: true
    case .connecting, .live, .behind: false
    }
  }

  /// Returns the state of a source that ended without reporting it.
  package func ended(because reason: Text) -> SourceHealth {
    var status = self
    (status.state, status.reason, status.behindMilliseconds) = (.ended, reason, nil)
    return status
  }

  /// Returns a copy that owns its texts, so that it does not keep the received lines in memory.
  package func owned() -> SourceHealth {
    var status = self
    status.source = source.owned()
    status.platform = platform?.owned()
    status.reason = reason?.owned()
    return status
  }
}

/// A period for which a source received no events.
public struct MissedTime: Sendable, Hashable, Codable {
  public var source: Text
  public var from: Timestamp
  /// The end of the period, which is not before ``from``.
  public var to: Timestamp
  /// A human-readable reason.
  public var reason: Text

  public init(source: Text, from: Timestamp, to: Timestamp, reason: Text) {
    self.source = source
    self.from = from
    self.to = to
    self.reason = reason
  }

  package var milliseconds: Int { Int(to - from) }
}
