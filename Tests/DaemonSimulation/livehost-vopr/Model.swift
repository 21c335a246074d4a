/// What was asked of the daemon and what it has promised, by what clients saw: it knows nothing of files.
struct Model {
  /// What must hold whatever happens.
  enum Invariant: String, CaseIterable {
    case acknowledgedIsKept = "what was acknowledged is there"
    case prefix = "what is there was sent, in order, each once"
    case foreign = "what is there was sent to that room"
    case nothingReturns = "what a crash has lost does not come back"
    case closedIsGone = "what was closed for good does not come back"
    case roomIsKept = "a room whose opening was acknowledged is there"
    case actIsKept = "an act that was acknowledged is there"
    case syncIsAnswered = "every sync is answered"
    case counted = "an answer counts the lines that were sent"
    case recordedIsPrefix = "a recording holds what was sent, in order, each once"
    case recordedIsKept = "what was acknowledged while it was recorded is in the recording"
    case recordedIsWhole = "what a restart brings back of what was recorded is in the recording"
    case replayed = "a replay leads to the state that was recorded"
    case progress = "what was begun ends"
    case told = "what the disk has spoiled is told"
    case noFalseAlarm = "no damage is told where the disk has spoiled nothing"
    case converges = "a monitor comes to know what is in its room"
    case bounded = "what waits for the daemon or the disk is bounded"
  }

  /// Messages of one client in one room; numbers begin at 0.
  struct Sent {
    var count = 0
    /// The first so many are acknowledged.
    var acknowledged = 0
    /// No more than so many may be there, since a crash has lost the rest.
    var limit = Int.max
    /// The first so many are in a life of the room that has ended, ...
    var mustBeGone = 0
    /// ... and so many may be.
    var mayBeGone = 0
  }

  struct Room {
    var clients: [String: Sent] = [:]
    /// Whether anything has been asked that would open it, since it was closed.
    var mayExist = false
    /// Whether its existence was acknowledged.
    var mustExist = false
    /// Calls that close it and are not answered.
    var closings = 0
    /// Whether it was to be opened since the first of them was made.
    var isReopened = false
    /// Calls that have closed it.
    var closed = 0
    /// Of the host's acts: the last that was asked for, that was acknowledged, and that may be gone.
    var acts = (asked: 0, acknowledged: 0, mayBeGone: 0)
    /// Acts that are asked for at the same time may be done in any order.
    var actsInFlight = 0
    /// How often each message of other rooms may be there, since recordings were played into this one.
    var copies: [String: Int] = [:]
    /// Whether something may be missing in front of something that is there: what a recording begins with follows what
    /// was logged, and of both the disk may have spoiled the end.
    var mayHaveGaps = false
  }

  struct Recording {
    let room: String
    /// From which message of each client on it was recorded, and how many were acknowledged by its end.
    var from: [String: Int]
    var until: [String: Int]?
    /// Whether the next run may not know that it is to be continued.
    var endsWithLife = false
    /// Whether the disk has spoiled it, perhaps.
    var mayBeDamaged = false
    /// Whether it was paused, so that something may be missing in the middle.
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

  // MARK: What is asked for

  /// A client sends the next message; returns its identifier.
  mutating func send(_ client: String, to room: String) -> String {
    rooms[room, default: Room()].mayExist = true
    let number = rooms[room]?.clients[client, default: Sent()].count ?? 0
    rooms[room]?.clients[client, default: Sent()].count += 1
    return "\(room)/\(client)/\(number)"
  }

  /// How many messages a client has sent to each room.
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

  /// A call that closes a room is made. Returns what it must remove.
  mutating func beginClosing(_ room: String) -> [String: Int] {
    if rooms[room]?.closings ?? 0 == 0 { rooms[room]?.isReopened = false }
    rooms[room, default: Room()].closings += 1
    rooms[room]?.mustExist = false
    return rooms[room]?.clients.mapValues(\.acknowledged) ?? [:]
  }

  /// It is answered: `isDone` if there was such a room.
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
      // It may come back, and so may a room of its name whose closing failed before.
      for client in room.clients.keys { room.clients[client]?.limit = .max }
    }
    // Whatever was sent meanwhile may be in either life.
    room.forgetPromises()
    rooms[name] = room
  }

  /// A recording of a room is played into another one.
  mutating func copy(from source: String, into target: String) {
    let earlier = rooms[source]?.copies ?? [:]
    rooms[target, default: Room()].mayExist = true
    rooms[target]?.copies.merge(earlier.merging([source: 1], uniquingKeysWith: +)) { $0 + $1 }
  }

  /// The disk has changed what was safely there: of what is known of these rooms, anything may be gone, or back.
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

  /// What the disk has changed of the log of a room, or of one of its recordings, and what is behind that.
  struct Loss {
    /// The first message of each client.
    var messages: [String: Int] = [:]
    var hasActs = false
    var hasOpening = false
    var hasClosing = false
  }

  /// What is lost may be gone, or back if its end is. What was in front of it must be there.
  ///
  /// - Parameters:
  ///   - recording: which recording it was in; `nil` for the log.
  ///   - isRecorded: whether there are any recordings of the room.
  mutating func spoil(_ name: String, _ loss: Loss, in recording: String?, isRecorded: Bool) {
    guard var room = rooms[name] else { return }
    if isRecorded { room.mayHaveGaps = true }
    for (key, known) in recordings where known.room == name {
      var until = known.until ?? room.clients.mapValues(\.acknowledged)
      if key == recording {
        recordings[key]?.mayBeDamaged = true
        // Damage also keeps the log from completing what was not synced in the recording.
        until = [:]
      } else if recording == nil {
        for (client, first) in loss.messages { until[client] = min(until[client] ?? 0, first) }
      }
      // A room that does not come back is not recorded any more.
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

  /// The daemon has ended, in whichever way: calls that were not answered may have had an effect.
  ///
  /// - Parameter hasFailed: whether a call on the disk has failed, so that recordings may have ended, too.
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

  // MARK: What is there

  /// Checks a room.
  ///
  /// - Parameters:
  ///   - found: the messages and the host's last act in it; `nil` if there is no such room.
  ///   - promised: the room as it was when the daemon was asked.
  ///   - isRecovered: the daemon has been started again, and nothing has been sent since.
  mutating func check(
    _ name: String, _ found: (messages: [String], act: Int)?, promised: Room, isRecovered: Bool
  ) throws(Violation) {
    guard let room = rooms[name], room.closings == 0, room.closed == promised.closed else { return }
    if found != nil {
      try expect(.foreign, room.mayExist, "room \(name) was never opened, or is closed")
    } else {
      try expect(.roomIsKept, !promised.mustExist, "room \(name) is gone")
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

  /// The messages of each client, which must be one range of its numbers.
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
        "room \(room) has \(message) behind \(range) of \(client)")
      ranges[client] = range.lowerBound..<number + 1
    }
    return ranges
  }

  /// Checks what can be read of a recording.
  mutating func check(recording name: String, _ messages: [String]) throws(Violation) {
    guard let recording = recordings[name] else { return }
    let ranges = try ranges(
      of: messages, in: recording.room, .recordedIsPrefix, hasGaps: recording.hasGaps)
    for (client, sent) in rooms[recording.room]?.clients.sorted(by: { $0.key < $1.key }) ?? [] {
      let from = recording.from[client] ?? 0
      // What was in its room at the last start, all of which was recorded.
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
  ///   - isOver: whether it may have ended already, before it was known to have begun.
  ///   - endsWithLife: whether the disk has failed, so that the next run may not know of it.
  mutating func beginRecording(_ name: String, of room: String, isOver: Bool, endsWithLife: Bool) {
    recordings[name] = Recording(
      room: room, from: rooms[room]?.clients.mapValues(\.count) ?? [:], until: isOver ? [:] : nil,
      endsWithLife: endsWithLife, hasGaps: isOver)
  }

  /// How often the recordings of a room have ended.
  private(set) var endings: [String: Int] = [:]

  /// What is acknowledged from here on need not be in the recordings of a room.
  ///
  /// - Parameter withGaps: whether they may go on later.
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
  /// All that was sent so far may be there or not.
  mutating func forgetPromises() {
    for (client, sent) in clients { clients[client]?.mayBeGone = sent.count }
    acts.mayBeGone = acts.asked
    mustExist = false
  }
}
