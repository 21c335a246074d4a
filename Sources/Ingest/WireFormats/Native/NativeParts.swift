import JSON
public import LiveEvents

// The parts of the screen whose events are carried by native lines. A new part adds a file next to
// this one (see `NativeEvent`), and here its members and a line in each list.

/// The events of one part as native lines: the names of their types, their members, and their
/// limits.
///
/// The file of the part says all of that; what all parts share is in ``NativeMembers`` and
/// ``JSONWriter``.
protocol NativeEvent {
  /// The values of `type` of the part's events. A raw value is the name on the wire, of at most
  /// ``WordTable/longestName`` bytes.
  associatedtype NativeType: RawRepresentable<String>, CaseIterable

  var nativeType: NativeType { get }

  /// Reads an event from the members of its line.
  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason)

  /// Adds the event's members, apart from those that all lines have.
  func write(to object: inout JSONWriter)
}

/// The value of a line's `type` member.
enum NativeLineType {
  case activity(ActivityEvent.NativeType)
  case chat(ChatEvent.NativeType)
  case control(ControlEvent.NativeType)
  case header(HeaderEvent.NativeType)
  case liveRoomStats(StreamStatistics.NativeType)
  case poll(PollEvent.NativeType)
  case recorder(RecorderEvent.NativeType)
  case source(SourceEvent.NativeType)
  case waitingRoom(WaitingRoomEvent.NativeType)
  case stream(StreamState.NativeType)
  /// A line to the connection itself.
  case connection(ControlLine.NativeType)

  /// Whether only lines that the program itself wrote have it.
  var isOwn: Bool {
    switch self {
    case .chat(let type): type.isOwn
    case .control(let type): type.isOwn
    case .activity, .header, .liveRoomStats, .poll, .recorder, .source, .waitingRoom, .stream,
      .connection:
      false
    }
  }

  /// All of them, under their names.
  static let named =
    named(activity) + named(chat) + named(control) + named(header) + named(liveRoomStats)
    + named(poll)
    + named(recorder) + named(source) + named(waitingRoom) + named(stream) + named(connection)

  private static func named<Part: RawRepresentable<String> & CaseIterable>(
    _ embed: (Part) -> NativeLineType
  ) -> [(name: String, type: NativeLineType)] {
    Part.allCases.map { ($0.rawValue, embed($0)) }
  }
}

extension NativeMembers {
  /// Reads the event of a type other than `chat.message`; `nil` for the type of a control line.
  func rarerPayload(of type: NativeLineType) throws(RejectionReason) -> LiveEvent.Payload? {
    switch type {
    case .activity(let type): .activity(try ActivityEvent(type, from: self))
    case .chat(let type): .chat(try ChatEvent(type, from: self))
    case .control(let type): .control(try ControlEvent(type, from: self))
    case .header(let type): .header(try HeaderEvent(type, from: self))
    case .liveRoomStats(let type): .liveRoomStats(try StreamStatistics(type, from: self))
    case .poll(let type): .poll(try PollEvent(type, from: self))
    case .recorder(let type): .recorder(try RecorderEvent(type, from: self))
    case .source(let type): .source(try SourceEvent(type, from: self))
    case .waitingRoom(let type): .waitingRoom(try WaitingRoomEvent(type, from: self))
    case .stream(let type): .stream(try StreamState(type, from: self))
    case .connection: nil
    }
  }
}

extension LiveEvent.Payload {
  /// The value of the `type` member of the line that carries the event.
  public var nativeType: String {
    switch self {
    case .activity(let event): event.nativeType.rawValue
    case .chat(let event): event.nativeType.rawValue
    case .control(let event): event.nativeType.rawValue
    case .header(let event): event.nativeType.rawValue
    case .liveRoomStats(let event): event.nativeType.rawValue
    case .poll(let event): event.nativeType.rawValue
    case .recorder(let event): event.nativeType.rawValue
    case .source(let event): event.nativeType.rawValue
    case .waitingRoom(let event): event.nativeType.rawValue
    case .stream(let event): event.nativeType.rawValue
    }
  }

  /// Whether `platform` and `source` say where it comes from. A source says what it is itself, and what the host
  /// asks for may name a platform.
  var hasOrigin: Bool {
    switch self {
    case .source, .chat(.filter): false
    case .activity, .chat, .control, .header, .liveRoomStats, .poll, .recorder, .waitingRoom,
      .stream:
      true
    }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .activity(let event): event.write(to: &object)
    case .chat(let event): event.write(to: &object)
    case .control(let event): event.write(to: &object)
    case .header(let event): event.write(to: &object)
    case .liveRoomStats(let event): event.write(to: &object)
    case .poll(let event): event.write(to: &object)
    case .recorder(let event): event.write(to: &object)
    case .source(let event): event.write(to: &object)
    case .waitingRoom(let event): event.write(to: &object)
    case .stream(let event): event.write(to: &object)
    }
  }
}

/// The members of native lines, nested ones under the name of their path.
///
/// One flat list, so that a line's members are one array of values whatever its type, which is known
/// only once they are read. At most ``WordTable/limit``.
enum NativeMember: Int, CaseIterable {
  // All lines.
  case type, room, ts
  // Several parts.
  case id, user, kind, count, title, control, value, state
  // Chat.
  case text, replyTo, bits, channel, action, emotes, seconds, group
  case slowSeconds, emoteOnly, followersOnlyMinutes, subscribersOnly, uniqueOnly
  case words, mentionsOnly, names, position, message, notice, handling
  case run, samples, mergers, members, highlights
  // Control.
  case phase, on, input, levels, surface, request, reason
  // Statistics.
  case bitrateKbps, framesPerSecond, droppedFrames, roundTripMs, congestion
  // Recorder.
  case bytes, durationMs, done, total
  // Waiting room.
  case startsAt, all, perSecond
  // Activity.
  case level, progress, goal, cost, target, activity
  // Sources.
  case source, platform, behindMs, lost, backfilled, duplicate, notShown, from, to
  // Poll.
  case options, endsAt, totals, winner
  // Lines to the connection.
  case token, clock, format, sequence
  /// `user.id`, `user.name`, `user.badges`, `user.color`
  case userID, userName, userBadges, userColor

  /// Keys of the line's object, by the raw value of their member.
  static let keys = WordTable(allCases.filter { $0.rawValue < userID.rawValue }.map { "\($0)" })
  /// Keys of the object in `user`, by their distance from `userID`.
  static let userKeys = WordTable(["id", "name", "badges", "color"])
}
