/// One thing that happened in a live stream, whatever format it came in.
///
/// A plain value: decoders make it, throttles thin it, reducers read it.
public struct LiveEvent: Sendable, Hashable {
  /// When it happened at its source, in milliseconds since 1970; the time of arrival if the source
  /// does not say. Not monotonic: real chat is up to 0.4 s out of order.
  public var timestamp: Timestamp
  public var payload: Payload
  // Last, in what would be padding: it makes no event larger.
  /// Where it comes from, as far as its sender says.
  public var origin: Origin

  public init(timestamp: Timestamp, payload: Payload, origin: Origin = .none) {
    self.timestamp = timestamp
    self.payload = payload
    self.origin = origin
  }

  /// What happened, by the part of the screen that shows it. Acts of the host are events like any
  /// other.
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
    /// `stream`: the stream as a whole entered a state.
    case stream(StreamState)
  }
}

/// Milliseconds since 1970-01-01 00:00 UTC.
public typealias Timestamp = Int64
