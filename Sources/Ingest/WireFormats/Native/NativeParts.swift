import JSON
public import LiveEvents

// This file lists the parts of the screen whose events native lines carry. A new part needs a file
// beside this one (see `NativeEvent`), its members in the list below, and a line in each switch.

/// The native encoding of the events of one part: type names, members, and limits.
/// ``NativeMembers`` and ``JSONWriter`` contain the code that the parts share.
protocol NativeEvent {
  /// The values of `type` for the part's events. A raw value is the name in native lines, with at
  /// most ``WordTable/longestName`` bytes.
  associatedtype NativeType: RawRepresentable<String>, CaseIterable

  var nativeType: NativeType { get }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason)

  /// Adds the event's members, except for those that all lines share.
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
  /// A command to the connection.
  case connection(ControlLine.NativeType)

  /// Whether only this program writes the type, in its log and recordings.
  var isOwn: Bool {
    switch self {
    case .chat(let type): type.isOwn
    case .control(let type): type.isOwn
    case .activity, .header, .liveRoomStats, .poll, .recorder, .source, .waitingRoom, .stream,
      .connection:
      false
    }
  }

  /// All types with their names.
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
  /// Reads the event of any type except `chat.message`. Returns `nil` for a command to the
  /// connection.
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
  /// The `type` member of the line that carries the event.
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

  /// Whether `platform` and `source` are the event's origin. In the reports of a source and of a
  /// controller, both members describe the sender itself. In a chat filter and in an act, and with
  /// a person's card and note, they are criteria that the host chose.
  var hasOrigin: Bool {
    switch self {
    case .source, .chat(.filter), .chat(.openPerson), .chat(.notePerson), .control(.controller),
      .control(.act):
      false
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

/// The members of native lines. The name of a nested member is its path.
///
/// The list is flat so that one array holds a line's values for all types, since the type is known
/// only after reading. It has at most ``WordTable/limit`` cases.
enum NativeMember: Int, CaseIterable {
  // Members of all lines.
  case type, room, ts
  // Members of several parts.
  case id, user, kind, count, title, control, value, state
  // Members of the chat.
  case text, replyTo, bits, channel, action, emotes, seconds, group
  case slowSeconds, emoteOnly, followersOnlyMinutes, subscribersOnly, uniqueOnly
  case words, mentionsOnly, names, position, message, notice, handling
  case run, samples, mergers, members, highlights
  // Members of the control panel.
  case phase, on, input, levels, surface, request, reason, acts, by
  // Members of the statistics.
  case bitrateKbps, framesPerSecond, droppedFrames, roundTripMs, congestion
  // Members of the recorder.
  case bytes, durationMs, done, total
  // Members of the waiting room.
  case startsAt, all, perSecond
  // Members of the activity feed.
  case level, progress, goal, cost, target, activity
  // Members of sources.
  case source, platform, behindMs, lost, backfilled, duplicate, notShown, from, to
  // Members of the poll.
  case options, endsAt, totals, winner
  // Members of lines to the connection.
  case token, clock, format, sequence
  /// The members `user.id`, `user.name`, `user.badges` and `user.color`.
  case userID, userName, userBadges, userColor

  /// The keys of the line's object. The value of a key is its member's raw value.
  static let keys = WordTable(allCases.filter { $0.rawValue < userID.rawValue }.map { "\($0)" })
  /// The keys of the `user` object. The value of a key is its member's distance from `userID`.
  static let userKeys = WordTable(["id", "name", "badges", "color"])
}
