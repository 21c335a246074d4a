/// An event of a live stream, independent of its original format.
///
/// A plain value: decoders create it, throttles hold or coalesce it, and reducers read it.
public struct LiveEvent: Sendable, Hashable {
  /// The time at its source, in milliseconds since 1970; the time of arrival if the source provides
  /// none. Not monotonic: real chat is up to 0.4 s out of order.
  public var timestamp: Timestamp
  public var payload: Payload
  // Stored last, in space that would otherwise be padding, so that events do not get larger.
  /// The origin of the event, as far as the sender provides it.
  public var origin: Origin

  public init(timestamp: Timestamp, payload: Payload, origin: Origin = .none) {
    self.timestamp = timestamp
    self.payload = payload
    self.origin = origin
  }

  /// The content of the event, by the part of the screen that shows it. Acts of the host are
  /// ordinary events.
  public enum Payload: Sendable, Hashable {
    case activity(ActivityEvent)
    case chat(ChatEvent)
    case control(ControlEvent)
    case header(HeaderEvent)
    /// `stats`
    case liveRoomStats(StreamStatistics)
    case poll(PollEvent)
    case recorder(RecorderEvent)
    case source(SourceEvent)
    case waitingRoom(WaitingRoomEvent)
    /// `stream`: the whole stream entered a state.
    case stream(StreamState)
  }
}

/// A time in milliseconds since 1970-01-01 00:00 UTC.
public typealias Timestamp = Int64
