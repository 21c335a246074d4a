public import LiveEvents

/// The result of decoding one line.
public enum DecodedLine: Sendable {
  case event(LiveEvent, room: RoomReference)
  /// A rejected line, counted for `room`, which is `nil` if the line's room is unknown.
  case rejected(RejectionReason, room: RoomReference?)
  /// A command to the connection, which is not counted.
  case control(ControlLine)
  /// A line of white space, which is not counted.
  case blank
}

/// A native line that addresses the connection itself.
public enum ControlLine: Sendable {
  /// `{"type":"sync","token":"T"}`: requests an answer, which is sent when everything before this
  /// line has been applied.
  case sync(token: Text)
  /// `{"type":"options","room":R,"clock":C,"platform":P}`: sets how the connection treats all later
  /// lines.
  case options(ConnectionOptions)
  /// `{"type":"position","source":S,"sequence":N}`: starts a batch, which ends at the next position
  /// or sync.
  case position(BatchPosition)
}

/// The source and the number of a batch.
public struct BatchPosition: Sendable, Hashable {
  public var source: Text
  /// The batch number, which increases from batch to batch.
  public var sequence: Int

  public init(source: Text, sequence: Int) {
    self.source = source
    self.sequence = sequence
  }
}

/// The settings of an `options` line. A setting that the line does not mention is `nil`.
public struct ConnectionOptions: Sendable, Hashable {
  /// The room of every later line, which overrides the room that a line names.
  public var room: RoomName?
  public var clock: FrameClock?
  /// The required format of later event lines. Event lines in another format are rejected.
  public var format: WireFormat?
  /// The default platform and source of later events, for lines that do not name their own.
  public var platform: Text?
  public var source: Text?

  public init(
    room: RoomName? = nil, clock: FrameClock? = nil, format: WireFormat? = nil,
    platform: Text? = nil, source: Text? = nil
  ) {
    self.room = room
    self.clock = clock
    self.format = format
    self.platform = platform
    self.source = source
  }
}

/// The clock that a room's frames follow.
public enum FrameClock: String, Sendable, CaseIterable {
  case arrival
  /// Frames follow the timestamps of the events. A recording played at full speed then draws the
  /// same frames as in real time.
  case event
}

/// A room's index in the room table of the decoder that created the reference.
public struct RoomReference: Sendable, Hashable {
  package let index: Int

  package init(index: Int) { self.index = index }

  /// The room of lines that name no room.
  public static let main = RoomReference(index: 0)
}
