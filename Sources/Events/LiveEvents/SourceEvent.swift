/// What the sources of a room say about themselves: programs that bring the events of a platform.
///
/// Each case names the native `type` that carries it.
public indirect enum SourceEvent: Sendable, Hashable {
  /// `source.state`; replaces what the source said before.
  case state(SourceHealth)
  /// `gap`: what happened in this time is missing.
  case gap(MissedTime)
}

/// How a source is doing.
public struct SourceHealth: Sendable, Hashable, Codable {
  public enum Connection: String, Sendable, CaseIterable, Codable {
    /// Not connected yet, or not any more.
    case connecting
    case live
    /// Connected, but late.
    case behind
    /// The platform does not let it in; it does not try again by itself.
    case refused
    case ended
  }

  /// The name of the source, unique within its room.
  public var source: Text
  public var state: Connection
  /// Such as `twitch`; `nil` if it does not say.
  public var platform: Text?
  /// Why it is in this state, in words for people.
  public var reason: Text?
  /// How late it is.
  public var behindMilliseconds: Int?
  /// Events that are known to be missing, that came later from elsewhere, and that came twice.
  public var lost: Int
  public var backfilled: Int
  public var duplicate: Int
  /// Messages and deliveries of which nothing could be shown, such as those of an unknown kind; `nil` if there were none.
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

  /// Whether nothing more is to be expected of it.
  package var isOver: Bool {
    switch state {
    case .refused, .ended: true
    case .connecting, .live, .behind: false
    }
  }

  /// The same source once it has ended without saying so.
  package func ended(because reason: Text) -> SourceHealth {
    var status = self
    (status.state, status.reason, status.behindMilliseconds) = (.ended, reason, nil)
    return status
  }

  /// The same, owning its texts.
  package func owned() -> SourceHealth {
    var status = self
    status.source = source.owned()
    status.platform = platform?.owned()
    status.reason = reason?.owned()
    return status
  }
}

/// A time in which a source could not see what happened.
public struct MissedTime: Sendable, Hashable, Codable {
  public var source: Text
  public var from: Timestamp
  /// Not before ``from``.
  public var to: Timestamp
  /// Why, in words for people.
  public var reason: Text

  public init(source: Text, from: Timestamp, to: Timestamp, reason: Text) {
    self.source = source
    self.from = from
    self.to = to
    self.reason = reason
  }

  package var milliseconds: Int { Int(to - from) }
}
