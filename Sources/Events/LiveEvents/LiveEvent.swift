/// One thing that happened in a live stream, whatever format it came in.
///
/// A plain value: decoders make it, throttles thin it, reducers read it.
public struct LiveEvent: Sendable, Hashable {
  /// When it happened at its source, in milliseconds since 1970; the time of arrival if the source
  /// does not say. Not monotonic: real chat is up to 0.4 s out of order.
  public var timestamp: Timestamp
  public var payload: Payload

  public init(timestamp: Timestamp, payload: Payload) {
    self.timestamp = timestamp
    self.payload = payload
  }

  /// What happened. Each case names the native `type` that carries it.
  public enum Payload: Sendable, Hashable {
    /// `chat.message`
    case chatMessage(ChatMessage)
    /// `chat.delete`
    case chatDelete(messageID: Text)
    /// `chat.clear`
    case chatClear
    /// `chat.timeout`
    case chatTimeout(ChatTimeout)
    /// `chat.notice`
    case chatNotice(ChatNotice)
    /// `chat.modes`
    case chatModes(ChatModes)
    /// `reaction`
    case reaction(kind: Text, count: Int)
    /// `viewers`
    case viewers(count: Int)
    /// `title`
    case title(Text)
    /// `slider`
    case slider(Slider)
    /// `tap`; `on` is the new position of a switch, `nil` for one that toggles.
    case tap(control: Text, on: Bool?)
    /// `stats`
    case stats(StreamStatistics)
    /// `meter`; levels from 0 to 1, one per channel.
    case meter(input: Text, levels: [Float])
    /// `recorder.state`
    case recorderState(RecorderState)
    /// `recorder.progress`
    case recorderProgress(RecorderProgress)
    /// `waiting.join`
    case waitingJoin(Person)
    /// `waiting.leave`
    case waitingLeave(Person)
    /// `waiting.admit`
    case waitingAdmit(Person)
    /// `waiting.schedule`: when the stream is to begin; `nil` if nobody knows.
    case waitingSchedule(startsAt: Timestamp?)
    /// `waiting.capacity`: how many are let in at most; `nil` for no limit.
    case waitingCapacity(Int?)
    /// `stream`
    case stream(StreamState)
    /// `host.admit` and the others of its kind.
    case host(HostInput)
  }
}

/// Milliseconds since 1970-01-01 00:00 UTC.
public typealias Timestamp = Int64
