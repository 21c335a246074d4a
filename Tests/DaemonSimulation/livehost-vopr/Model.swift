/// Everything that clients sent and that the daemon acknowledged, and the conditions that follow
/// from it. The model knows nothing about files.
struct Model {
  /// The conditions that must hold after every sequence of operations and faults.
  enum Invariant: String, CaseIterable {
    case acknowledgedIsKept = "acknowledged messages survive"
    case prefix = "a room has the sent messages in order, each once"
    case foreign = "a room has only messages that were sent to it"
    case nothingReturns = "messages lost in a crash do not reappear"
    case closedIsGone = "messages of a closed room do not reappear"
    case roomIsKept = "a room survives if its opening was acknowledged"
    case actIsKept = "acknowledged acts survive"
    case syncIsAnswered = "every sync is acknowledged"
    case counted = "an acknowledgement counts all sent lines"
    case recordedIsPrefix = "a recording has the sent messages in order, each once"
    case recordedIsKept = "a recording has all messages acknowledged while it ran"
    case recordedIsWhole = "a recording has all recorded messages that a restart restores"
    case replayed = "a replay reaches the recorded state"
    case progress = "every operation ends"
    case told = "damage on the disk is reported"
    case noFalseAlarm = "no damage is reported without a cause"
    case converges = "a monitor converges to the state of its room"
    case bounded = "data waiting for the daemon or the disk is bounded"
  }

  /// The messages of one client in one room, numbered from 0.
  struct Sent {
    var count = 0
    /// The number of acknowledged messages, which are the client's first messages.
    var acknowledged = 0
    /// The largest number of messages that may be in the room: a crash lost the rest.
    var limit = Int.max
    /// The number of first messages that were certainly removed when the room was closed.
    var mustBeGone = 0
    /// The number of first messages that may be missing, for example because of an unanswered
    /// closing.
    var mayBeGone = 0
  }

  struct Room {
    var clients: [String: Sent] = [:]
    /// Whether the room may exist, because a request since its closing opens it.
    var mayExist = false
    /// Whether the room must exist, because its existence was acknowledged.
    var mustExist = false
    /// The number of unanswered calls that close the room.
    var closings = 0
    /// Whether opening was requested after the first of these calls.
    var isReopened = false
    /// The number of calls that closed the room.
    var closed = 0
    /// The numbers of the last host action that was requested, of the last one that was
    /// acknowledged, and of the last one that may be lost.
    var acts = (asked: 0, acknowledged: 0, mayBeGone: 0)
    /// The number of unanswered host actions. The daemon may apply concurrent ones in any order.
    var actsInFlight = 0
    /// The maximum count of each message of other rooms whose recordings were replayed into this
    /// room.
    var copies: [String: Int] = [:]
    /// Whether messages may be missing before messages that exist. The start of a recording follows
    /// the end of the log, and the disk may have damaged the ends of both.
    var mayHaveGaps = false
  }

  struct Recording {
    let room: String
    /// The number of each client's first recorded message, and the number of acknowledged messages
    /// at the end of the recording.
    var from: [String: Int]
    var until: [String: Int]?
    /// Whether the next run may be unable to know that it must continue the recording.
    var endsWithLife = false
    /// Whether the disk may have damaged the recording.
    var mayBeDamaged = false
    /// Whether the recording was paused, so messages may be missing in the middle.
    var hasGaps = false
  }

  struct Violation: Error {
    let invariant: Invariant
    let detail: String
  }

  var rooms: [String: Room] = [:]
  var recordings: [String: Recording] = [:]
  private(set) var checks: [Invariant: Int] = [:]

  mutating func expect(
    _ invariant: Invariant, _ holds: Bool, _ detail: @autoclosure () -> String
  ) throws(Violation) {
    checks[invariant, default: 0] += 1
    guard holds else { throw Violation(invariant: invariant, detail: detail()) }
  }

  // MARK: Requests

  /// Records that a client sends its next message, and returns the message's identifier.
  mutating func send(_ client: String, to room: String) -> String {
    rooms[room, default: Room()].mayExist = true
    let number = rooms[room]?.clients[client, default: Sent()].count ?? 0
    rooms[room]?.clients[client, default: Sent()].count += 1
    return "\(room)/\(client)/\(number)"
  }

  /// Returns the number of messages that a client has sent to each room.
  func counts(of client: String) -> [String: Int] {
    rooms.compactMapValues { $0.clients[client]?.count }
  }

  mutating func acknowledge(_ client: String, _ counts: [String: Int]) {
    for (room, count) in counts {
      let known = rooms[room]?.clients[client]?.acknowledged ?? 0
      rooms[room]?.clients[client]?.acknowledged = max(known, count)
      let sent = rooms[room]?.clients[client]
      if let sent, sent.acknowledged > sent.mayBeGone { rooms[room]?.mustExist = true }
    }
  }

  /// Records that a call to close a room begins. Returns the number of each client's messages that
  /// the call must remove.
  mutating func beginClosing(_ room: String) -> [String: Int] {
    if rooms[room]?.closings ?? 0 == 0 { rooms[room]?.isReopened = false }
    rooms[room, default: Room()].closings += 1
    rooms[room]?.mustExist = false
    return rooms[room]?.clients.mapValues(\.acknowledged) ?? [:]
  }

  /// Records the answer to a call that closes a room. `isDone` is true if the room existed.
  mutating func endClosing(_ name: String, _ removed: [String: Int], isDone: Bool) {
    guard var room = rooms[name] else { return }
    room.closings -= 1
    room.closed += 1
    if isDone {
      for (client, count) in removed {
        let known = room.clients[client]?.mustBeGone ?? 0
        room.clients[client]?.mustBeGone = max(known, count)
      }
      room.mayExist =
        room.isReopened
        || room.clients.contains { $1.count > max(removed[$0] ?? 0, $1.mustBeGone) }
    } else {
      // The room may reappear, and so may an earlier room with its name whose closing failed.
      for client in room.clients.keys { room.clients[client]?.limit = .max }
    }
    // A message sent during the call may be in the closed room or in the new room.
    room.forgetPromises()
    rooms[name] = room
  }

  /// Records that a recording of one room is replayed into another room.
  mutating func copy(from source: String, into target: String) {
    let earlier = rooms[source]?.copies ?? [:]
    rooms[target, default: Room()].mayExist = true
    rooms[target]?.copies.merge(earlier.merging([source: 1], uniquingKeysWith: +)) { $0 + $1 }
  }

  /// Records that the disk damaged synced data of these rooms: any message may be lost or reappear.
  mutating func spoil(_ names: some Sequence<String>) {
    for name in names where rooms[name] != nil {
      rooms[name]?.forgetPromises()
      rooms[name]?.mayExist = true
      for client in rooms[name]?.clients.keys ?? [:].keys {
        rooms[name]?.clients[client]?.mustBeGone = 0
        rooms[name]?.clients[client]?.limit = .max
      }
      for (key, recording) in recordings where recording.room == name {
        recordings[key]?.until = [:]
        recordings[key]?.mayBeDamaged = true
        rooms[name]?.mayHaveGaps = true
      }
    }
  }

  /// The messages in a damaged part of a room's log or of a recording, and all messages after that
  /// part.
  struct Loss {
    /// The number of each client's first message in the damaged part.
    var messages: [String: Int] = [:]
    var hasActs = false
    var hasOpening = false
    var hasClosing = false
  }

  /// Records a loss. The messages in `loss` may be missing, or may reappear if the record of the
  /// room's closing is lost. All earlier messages must exist.
  ///
  /// - Parameters:
  ///   - recording: the damaged recording, or nil for the log.
  ///   - isRecorded: whether the room has any recordings.
  mutating func spoil(_ name: String, _ loss: Loss, in recording: String?, isRecorded: Bool) {
    guard var room = rooms[name] else { return }
    if isRecorded { room.mayHaveGaps = true }
    for (key, known) in recordings where known.room == name {
      var until = known.until ?? room.clients.mapValues(\.acknowledged)
      if key == recording {
        recordings[key]?.mayBeDamaged = true
        // Damage in the log also prevents it from completing the unsynced end of the recording.
        until = [:]
      } else if recording == nil {
        for (client, first) in loss.messages { until[client] = min(until[client] ?? 0, first) }
      }
      // A room that is not restored is no longer recorded.
      recordings[key]?.until = until
    }
    for (client, sent) in room.clients {
      room.clients[client]?.acknowledged = min(sent.acknowledged, loss.messages[client] ?? .max)
      room.clients[client]?.limit = .max
    }
    if loss.hasActs { room.acts.mayBeGone = room.acts.asked }
    if loss.hasOpening { room.mustExist = false }
    rooms[name] = room
    if loss.hasClosing { spoil([name]) }
  }

  /// Records that the daemon ended. Unanswered calls may have had an effect.
  ///
  /// - Parameter hasFailed: whether a call to the disk failed, so recordings may have ended.
  mutating func end(hasFailed: Bool) {
    for (name, recording) in recordings
    where (hasFailed || recording.endsWithLife) && recording.until == nil {
      recordings[name]?.until = rooms[recording.room]?.clients.mapValues(\.acknowledged) ?? [:]
    }
    for name in rooms.keys {
      rooms[name]?.actsInFlight = 0
      if rooms[name]?.closings ?? 0 > 0 {
        rooms[name]?.closings = 0
        rooms[name]?.forgetPromises()
      }
    }
  }

  // MARK: Checks

  /// Checks a room.
  ///
  /// - Parameters:
  ///   - found: the messages and the last host action in the room, or nil if the room does not
  ///     exist.
  ///   - promised: the expected room at the time of the query.
  ///   - isRecovered: whether the daemon has just been restarted and nothing was sent since.
  mutating func check(
    _ name: String, _ found: (messages: [String], act: Int)?, promised: Room, isRecovered: Bool
  ) throws(Violation) {
    guard let room = rooms[name], room.closings == 0, room.closed == promised.closed else { return }
    if found != nil {
      try expect(.foreign, room.mayExist, "room \(name) exists but was never opened, or was closed")
    } else {
      try expect(.roomIsKept, !promised.mustExist, "room \(name) is missing")
    }
    let ranges = try ranges(of: found?.messages ?? [], in: name, .prefix)
    for (client, now) in room.clients.sorted(by: { $0.key < $1.key }) {
      let sent = promised.clients[client] ?? Sent()
      let range = ranges[client]
      let detail = {
        "room \(name) has \(range.map { "\($0)" } ?? "nothing") of \(client): \(sent)"
      }
      if let range {
        try expect(.foreign, range.upperBound <= now.count, detail())
        try expect(.closedIsGone, range.lowerBound >= sent.mustBeGone, detail())
        try expect(.nothingReturns, range.upperBound <= now.limit, detail())
      }
      if sent.acknowledged > sent.mayBeGone {
        let kept = range ?? 0..<0
        try expect(
          .acknowledgedIsKept,
          kept.lowerBound <= sent.mayBeGone && kept.upperBound >= sent.acknowledged, detail())
      }
      if isRecovered { rooms[name]?.clients[client]?.limit = range?.upperBound ?? sent.mustBeGone }
    }
    let (act, acts) = (found?.act ?? 0, promised.acts)
    try expect(
      .actIsKept,
      act <= room.acts.asked
        && (act >= acts.acknowledged || acts.acknowledged <= acts.mayBeGone),
      "room \(name) is at act \(act): \(acts)")
  }

  /// Returns the range of each client's message numbers. The numbers must be contiguous.
  private mutating func ranges(
    of messages: [String], in room: String, _ invariant: Invariant, hasGaps: Bool = false
  ) throws(Violation) -> [String: Range<Int>] {
    var ranges: [String: Range<Int>] = [:]
    var copies: [String: Int] = [:]
    for message in messages {
      let parts = message.split(separator: "/")
      if let origin = parts.first.map(String.init), let most = rooms[room]?.copies[origin] {
        copies[message, default: 0] += 1
        try expect(
          invariant, copies[message, default: 0] <= most,
          "room \(room) has \(message) more than \(most) times")
        continue
      }
      let client = parts.count == 3 ? String(parts[1]) : ""
      let number = Int(parts.last ?? "") ?? -1
      try expect(
        .foreign, parts.first ?? "" == room && rooms[room]?.clients[client] != nil,
        "room \(room) has \(message)")
      let range = ranges[client] ?? number..<number
      try expect(
        invariant,
        number == range.upperBound
          || number > range.upperBound && (hasGaps || rooms[room]?.mayHaveGaps == true),
        "room \(room) has \(message) after \(range) of \(client)")
      ranges[client] = range.lowerBound..<number + 1
    }
    return ranges
  }

  /// Checks the readable messages of a recording.
  mutating func check(recording name: String, _ messages: [String]) throws(Violation) {
    guard let recording = recordings[name] else { return }
    let ranges = try ranges(
      of: messages, in: recording.room, .recordedIsPrefix, hasGaps: recording.hasGaps)
    for (client, sent) in rooms[recording.room]?.clients.sorted(by: { $0.key < $1.key }) ?? [] {
      let from = recording.from[client] ?? 0
      // The messages that the room had after the last start, all of which were recorded.
      if recording.until == nil, sent.limit != .max, sent.limit > from {
        try expect(
          .recordedIsWhole, ranges[client]?.upperBound ?? 0 >= sent.limit,
          "recording \(name) has \(ranges[client] ?? 0..<0) of \(client), and its room \(sent)")
      }
      let until = recording.until?[client] ?? (recording.until == nil ? sent.acknowledged : 0)
      guard until > max(from, sent.mayBeGone) else { continue }
      let range = ranges[client] ?? 0..<0
      try expect(
        .recordedIsKept, range.lowerBound <= max(from, sent.mayBeGone) && range.upperBound >= until,
        "recording \(name) has \(range) of \(client), not \(from)..<\(until)")
    }
  }

  /// - Parameters:
  ///   - isOver: whether the recording may have ended before its start was acknowledged.
  ///   - endsWithLife: whether the disk failed, so the next run may not know about the recording.
  mutating func beginRecording(_ name: String, of room: String, isOver: Bool, endsWithLife: Bool) {
    recordings[name] = Recording(
      room: room, from: rooms[room]?.clients.mapValues(\.count) ?? [:], until: isOver ? [:] : nil,
      endsWithLife: endsWithLife, hasGaps: isOver)
  }

  /// How often recordings of each room have ended.
  private(set) var endings: [String: Int] = [:]

  /// Ends the recordings of a room: they need not have messages that are acknowledged later.
  ///
  /// - Parameter withGaps: whether the recordings may continue later.
  mutating func endRecordings(of room: String, withGaps: Bool = false) {
    endings[room, default: 0] += 1
    let acknowledged = rooms[room]?.clients.mapValues(\.acknowledged) ?? [:]
    for (name, recording) in recordings where recording.room == room {
      if recording.until == nil { recordings[name]?.until = acknowledged }
      if withGaps { recordings[name]?.hasGaps = true }
    }
  }
}

extension Model.Room {
  /// Allows every message sent so far to exist or to be missing.
  mutating func forgetPromises() {
    for (client, sent) in clients { clients[client]?.mayBeGone = sent.count }
    acts.mayBeGone = acts.asked
    mustExist = false
  }
}
