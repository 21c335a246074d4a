public import LiveEvents

/// The contents of one line.
public enum DecodedLine: Sendable {
  /// An event of a room.
  case event(LiveEvent, room: RoomReference)
  /// A rejected line. It is counted for `room`; `nil` if its room is unknown.
  case rejected(RejectionReason, room: RoomReference?)
  /// A line to the connection itself. It is not an event and is not counted.
  case control(ControlLine)
  /// Only white space: not counted.
  case blank
}

/// A line that is addressed to its own connection, in the native format.
public enum ControlLine: Sendable {
  /// `{"type":"sync","token":"T"}`: answer once everything before it is applied.
  case sync(token: Text)
  /// `{"type":"options","room":R,"clock":C,"platform":P}`: how to treat all later lines of this connection.
  case options(ConnectionOptions)
  /// `{"type":"position","source":S,"sequence":N}`: the lines behind it, up to the next position or sync, are
  /// one batch.
  case position(BatchPosition)
}

/// What a batch of lines is for its source: the one of this number.
public struct BatchPosition: Sendable, Hashable {
  public var source: Text
  /// Grows from batch to batch.
  public var sequence: Int

  public init(source: Text, sequence: Int) {
    self.source = source
    self.sequence = sequence
  }
}

/// What an `options` line sets; `nil` for everything it does not mention.
public struct ConnectionOptions: Sendable, Hashable {
  /// The room of every later line, whatever the line says.
  public var room: RoomName?
  public var clock: FrameClock?
  /// The format of every later line that carries an event.
  public var format: WireFormat?
  /// The platform and the source of every later event whose line does not name another one.
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

/// Which time the frames of a room follow.
public enum FrameClock: String, Sendable, CaseIterable {
  /// Frames run as events arrive.
  case arrival
  /// Frames follow the time stamps of the events: a recording played at full speed gives the same
  /// frames as in real time.
  case event
}

/// A room, as an index into the rooms of the decoder that found it.
public struct RoomReference: Sendable, Hashable {
  package let index: Int

  package init(index: Int) { self.index = index }

  /// The room of lines that name none.
  public static let main = RoomReference(index: 0)
}
