/// An event of a live stream, independent of its original format.
public struct LiveEvent: Sendable, Hashable {
  /// The time in milliseconds since 1970 from the source, or else the time of arrival. Not
  /// monotonic, because real chat is up to 0.4 s out of order.
  public var timestamp: Timestamp
  public var payload: Payload
  // Stored last, in space that would otherwise be padding, so that it does not enlarge events.
  public var origin: Origin

  public init(timestamp: Timestamp, payload: Payload, origin: Origin = .none) {
    self.timestamp = timestamp
    self.payload = payload
    self.origin = origin
  }

  /// The content of the event, with one case for each part of the screen. Host actions are also
  /// events.
  public enum Payload: Sendable, Hashable {
    case activity(ActivityEvent)
    case chat(ChatEvent)
    case control(ControlEvent)
    case header(HeaderEvent)
    /// `stats`: a measurement of the encoder and its connection.
    case liveRoomStats(StreamStatistics)
    case poll(PollEvent)
    case recorder(RecorderEvent)
    case source(SourceEvent)
    case waitingRoom(WaitingRoomEvent)
    /// `stream`: the state of a source's stream changed.
    case stream(StreamState)
  }
}

/// A time in milliseconds since 1970-01-01 00:00 UTC.
public typealias Timestamp = Int64
