import BatchDelivery
package import LiveEvents
package import RateLimiting
import WireFormats

/// Passes each message of the replicated log to the local daemon once.
///
/// The log contains a batch twice if its sender or gateway repeated it after a lost answer. The
/// feed knows the newest batch of each sender, counted from the partition's beginning or a
/// snapshot, and passes on only the first copy. The daemon receives each batch with its position in
/// the log. When a message is read again, the daemon therefore rejects what it already has.
///
/// An act waits until the daemon has acknowledged everything before it in its room, and everything
/// after the act waits for it. If the daemon does not have a room, the feed opens the room by an
/// act before the first events. Events alone would open it, too, but a full daemon rejects them,
/// and might later accept others without them.
package struct LogFeed: Sendable {
  /// The point at which reading of a room begins.
  package struct Beginning: Sendable {
    /// The daemon's newest position in the log.
    package var held: Int
    var isThere: Bool
    /// The first message of the log that is not in the snapshot.
    package var start: UInt64 = 0
    var senders: [String: SenderPositions.Position] = [:]

    /// - Parameter isThere: whether the daemon has the room; by default, if it has any position of
    ///   the log.
    package init(held: Int, isThere: Bool? = nil) {
      self.held = held
      self.isThere = isThere ?? (held > 0)
    }

    package init(held: Int, behind header: SnapshotHeader, isThere: Bool? = nil) {
      self.init(held: held, isThere: isThere)
      (start, senders) = (header.start, header.senders)
    }
  }

  /// An act that the daemon carries out by a call.
  package struct Act: Sendable {
    package let partition: Partition
    package let room: RoomName
    /// The position of the act in the log.
    package let code: Int
    /// The term in which the act was read; each beginning of its partition starts a new term.
    let term: Int
    package let log: String
    package let act: LoggedAct
    /// Whether the feed added this act to open the room for events of the log.
    package var isOpening = false
    var message: UInt64 { LogFeed.message(of: code) }
  }

  private struct Batch: Sendable {
    let partition: Partition
    let room: RoomName
    /// The term in which the batch was read; each beginning of its partition starts a new term.
    let term: Int
    let code: Int
    let log: String
    let bytes: [UInt8]
    let size: Int
  }

  private enum Item: Sendable {
    case batch(Batch)
    case act(Act)
  }

  private struct Room: Sendable {
    var senders: SenderPositions
    /// The code of the last part that the daemon had at the beginning, or that the feed has read
    /// since.
    var held: Int
    var start: UInt64
    /// The code of the last part that the daemon acknowledged to this feed.
    var acknowledged = 0
    /// The number of batches that the daemon has not acknowledged.
    var inFlight = 0
    /// Waiting acts and batches, in the order of the log.
    var queue: [Item] = []
    var isActing = false
    /// The act that opens the room for the first batch of the queue.
    var opening: Act?
    /// Whether the daemon has the room, according to its last answer.
    var isThere: Bool
    /// The code of the act after which the daemon did not have the room; `nil` once anything
    /// followed.
    var gone: Int?
    /// Whether the daemon refuses to open the room, so that the feed passes nothing on.
    var isRefused = false
    /// The part of the room's log that no snapshot contains.
    var uncovered: Uncovered?
    var isSaving = false

    init(_ beginning: Beginning) {
      senders = SenderPositions(beginning.senders)
      (held, start, isThere) = (beginning.held, beginning.start, beginning.isThere)
    }
  }

  private struct Uncovered: Sendable {
    var first: UInt64
    var since: Instant
    var bytes = 0
    var notBefore: Instant?
  }

  private static let partsPerMessage = 256
  /// The number of unacknowledged bytes at which reading pauses.
  package static let window = 4 << 20

  private var rooms: [Partition: [RoomName: Room]] = [:]
  /// The current term of each partition; each beginning of a partition starts a new term.
  private var terms: [Partition: Int] = [:]
  private var nextTerm = 1
  /// The sequence of the newest message that was read.
  private var newest: [Partition: UInt64] = [:]
  /// For ``hasCaughtUp(_:)``, the position that the daemon must reach in each room.
  private var goals: [Partition: [RoomName: Int]] = [:]
  private var batches: [Batch] = []
  private var written = 0
  /// For each `sync` token, oldest first, the number of batches that it covers.
  private var syncs: [(token: String, batches: Int)] = []
  private var nextToken = 1
  private var acts: [Act] = []

  package private(set) var bytes = 0 {
    didSet { precondition(bytes >= 0, "more bytes are acknowledged than were read") }
  }
  /// The number of batches that the daemon has acknowledged, and of messages that the log contained
  /// twice.
  package private(set) var delivered = 0
  package private(set) var duplicates = 0
  /// The number of messages that could not be read.
  package private(set) var unreadable = 0

  package init() {}

  package var isFull: Bool { bytes >= Self.window }

  package mutating func begin(_ partition: Partition, _ known: [RoomName: Beginning]) {
    rooms[partition] = known.mapValues { Room($0) }
    terms[partition] = nextTerm
    nextTerm += 1
    (newest[partition], goals[partition]) = (nil, nil)
  }

  /// Ends a partition. Batches that were passed on are still written; those that wait for an act
  /// are dropped.
  package mutating func end(_ partition: Partition) {
    for room in rooms.removeValue(forKey: partition)?.values ?? [:].values {
      for item in room.queue { bytes -= Self.size(item) }
    }
    (newest[partition], goals[partition]) = (nil, nil)
    acts.removeAll { $0.partition == partition }
  }

  /// Ends all partitions, which must begin again, because the connection to the daemon is lost.
  package mutating func reset() {
    (rooms, newest, goals, batches, syncs, acts) = ([:], [:], [:], [], [], [])
    (written, bytes) = (0, 0)
  }

  /// Passes on a message of the log.
  /// - Parameter log: identifies the stream, so that its positions are not confused with those of
  ///   another stream of the same name.
  package mutating func received(
    _ body: [UInt8], sequence: UInt64, room: RoomName, partition: Partition, log: String,
    at now: Instant
  ) {
    guard rooms[partition] != nil else { return }
    precondition(sequence > newest[partition] ?? 0, "the log of \(partition) is read out of order")
    newest[partition] = sequence
    guard let message = LogMessage(bytes: body) else { return unreadable += 1 }
    // The room is removed from the dictionary, so that it is changed without a copy.
    var known = rooms[partition]?.removeValue(forKey: room) ?? Room(Beginning(held: 0))
    defer { rooms[partition]?[room] = known }
    guard sequence >= known.start else { return }
    let parts = message.parts
    let isAct = LoggedAct.isAct(message.lines)
    let count = isAct ? 1 : min(parts.count, Self.partsPerMessage)
    let first = Int(sequence) * Self.partsPerMessage
    guard
      known.senders.record(
        message.position.sequence, of: message.position.source.description, message: sequence,
        last: first + max(0, count - 1))
    else { return duplicates += 1 }
    if known.uncovered == nil { known.uncovered = Uncovered(first: sequence, since: now) }
    known.uncovered?.bytes += body.count
    if known.isRefused { return }
    let term = terms[partition] ?? 0
    if isAct {
      guard first > known.held else { return }
      known.held = first
      guard let act = LoggedAct(message.lines) else { return unreadable += 1 }
      return enter(
        .act(
          Act(partition: partition, room: room, code: first, term: term, log: log, act: act)),
        &known)
    }
    for (index, part) in parts.enumerated() {
      let code = first + min(index, Self.partsPerMessage - 1)
      guard code > known.held else { continue }
      known.held = code
      let position = BatchLine.position(session: log, sequence: code) + [0x0A]
      enter(
        .batch(
          Batch(
            partition: partition, room: room, term: term, code: code, log: log,
            bytes: position + part, size: part.count)),
        &known)
    }
  }

  private mutating func enter(_ item: Item, _ room: inout Room) {
    bytes += Self.size(item)
    room.queue.append(item)
    advance(&room)
  }

  /// Passes on the items of a queue that no longer have to wait.
  private mutating func advance(_ room: inout Room) {
    while !room.isActing, let first = room.queue.first {
      switch first {
      case .batch(let batch):
        guard room.isThere else {
          let act = Act(
            partition: batch.partition, room: batch.room, code: batch.code - 1, term: batch.term,
            log: batch.log, act: LoggedAct(.open, answer: ""), isOpening: true)
          (room.isActing, room.opening) = (true, act)
          return acts.append(act)
        }
        batches.append(batch)
        room.inFlight += 1
        room.queue.removeFirst()
      case .act(let act):
        guard room.inFlight == 0 else { return }
        room.isActing = true
        acts.append(act)
      }
    }
  }

  /// Returns the bytes to write now, with a `sync` at the end; `nil` if there are none.
  package mutating func nextWrite() -> [UInt8]? {
    guard written < batches.count else { return nil }
    let new = batches[written...]
    var output: [UInt8] = []
    for batch in new { output += batch.bytes }
    let token = "f\(nextToken)"
    nextToken += 1
    syncs.append((token, new.count))
    written = batches.count
    return output + BatchLine.sync(token: token) + [0x0A]
  }

  /// Records that the daemon has applied and saved everything before a `sync`. Returns whether the
  /// token belongs to this feed.
  @discardableResult
  package mutating func acknowledge(_ token: String) -> Bool {
    guard let index = syncs.firstIndex(where: { $0.token == token }) else { return false }
    let count = syncs[...index].reduce(0) { $0 + $1.batches }
    let done = Array(batches.prefix(count))
    precondition(count <= written, "a batch is acknowledged that was not written")
    delivered += count
    batches.removeFirst(count)
    written -= count
    syncs.removeFirst(index + 1)
    for batch in done {
      bytes -= batch.size
      // A batch from an earlier term of the partition does not count for the new room.
      guard batch.term == terms[batch.partition],
        var room = rooms[batch.partition]?.removeValue(forKey: batch.room)
      else { continue }
      if room.inFlight > 0 {
        room.inFlight -= 1
        room.gone = nil
        recordAcknowledged(batch.code, &room)
        advance(&room)
      }
      rooms[batch.partition]?[batch.room] = room
    }
    return true
  }

  /// Whether the daemon has everything of a partition that had been read when this function was
  /// first called for it.
  package mutating func hasCaughtUp(_ partition: Partition) -> Bool {
    let rooms = rooms[partition] ?? [:]
    let goal = goals[partition] ?? rooms.mapValues(\.held)
    goals[partition] = goal
    return rooms.allSatisfy { name, room in
      room.inFlight == 0 && room.queue.isEmpty || room.acknowledged >= goal[name] ?? 0
    }
  }

  private func recordAcknowledged(_ code: Int, _ room: inout Room) {
    room.acknowledged = max(room.acknowledged, code)
    // A snapshot that is being stored may reflect any moment since it was requested.
    if !room.isSaving { room.senders.forgetChanges(before: Self.message(of: room.acknowledged)) }
  }

  private static func message(of code: Int) -> UInt64 { UInt64(code / partsPerMessage) }

  private static func size(_ item: Item) -> Int {
    switch item {
    case .batch(let batch): batch.size
    case .act(let act): act.act.line.count
    }
  }

  // MARK: Acts

  /// Returns the acts to carry out now, each once. Call ``ended(_:isGone:)`` for each.
  package mutating func nextActs() -> [Act] {
    defer { acts = [] }
    return acts
  }

  /// Whether this node must still carry out an act.
  package func isActing(_ act: Act) -> Bool {
    guard let room = rooms[act.partition]?[act.room], room.isActing,
      act.term == terms[act.partition]
    else { return false }
    if let opening = room.opening { return act.isOpening && opening.code == act.code }
    guard case .act(let first)? = room.queue.first else { return false }
    return first.code == act.code
  }

  /// Records that the daemon has carried out an act.
  /// - Parameter isGone: whether the daemon does not have the room afterwards.
  package mutating func ended(_ act: Act, isGone: Bool = false) {
    guard isActing(act), var room = rooms[act.partition]?.removeValue(forKey: act.room) else {
      return
    }
    (room.isActing, room.opening, room.isThere) = (false, nil, !isGone)
    if !act.isOpening {
      bytes -= Self.size(room.queue.removeFirst())
      room.gone = isGone ? act.code : nil
      // A snapshot that is being stored may lack the act.
      if isGone { room.isSaving = false }
      recordAcknowledged(act.code, &room)
    } else if isGone {
      refuse(&room)
    } else {
      room.gone = nil
    }
    advance(&room)
    rooms[act.partition]?[act.room] = room
  }

  // MARK: Rooms that the daemon does not open

  /// Records that the daemon refuses a room, because the room does not exist although its snapshot
  /// was requested. Returns `false` if its absence is expected, because of an act or because the
  /// room was closed.
  package mutating func refuse(_ name: RoomName, _ partition: Partition) -> Bool {
    guard var room = rooms[partition]?[name], room.isSaving, !room.isActing, room.gone == nil,
      room.queue.isEmpty
    else { return false }
    refuse(&room)
    rooms[partition]?[name] = room
    return true
  }

  private mutating func refuse(_ room: inout Room) {
    room.isRefused = true
    for item in room.queue { bytes -= Self.size(item) }
    room.queue = []
  }

  /// The rooms that the daemon refuses to open.
  package var refused: [RoomName] {
    rooms.values.flatMap { $0.filter(\.value.isRefused).keys }
  }

  /// Whether batches of a room are not acknowledged yet.
  package func hasInFlight(_ room: RoomName) -> Bool { batches.contains { $0.room == room } }

  // MARK: Snapshots

  /// Returns the room whose snapshot is due and that has the most bytes since its last snapshot, in
  /// O(number of rooms). The snapshot of a closed room is due immediately. Other changed rooms need
  /// a snapshot after `interval`, or after `bytes` in the log.
  package func nextSnapshot(
    every interval: Interval, or bytes: Int, at now: Instant
  ) -> (partition: Partition, room: RoomName)? {
    var best: (partition: Partition, room: RoomName, bytes: Int)?
    for (partition, rooms) in rooms {
      for (name, room) in rooms {
        guard let uncovered = room.uncovered, !room.isSaving, !room.isActing, !room.isRefused,
          now >= uncovered.notBefore ?? now,
          room.gone != nil || now - uncovered.since >= interval || uncovered.bytes >= bytes,
          uncovered.bytes > best?.bytes ?? -1
        else { continue }
        best = (partition, name, uncovered.bytes)
      }
    }
    return best.map { ($0.partition, $0.room) }
  }

  /// Records that a snapshot of a room was requested. If an act has ended the room, returns the
  /// position of the act; the snapshot then has no state.
  @discardableResult
  package mutating func beginSnapshot(of room: RoomName, _ partition: Partition) -> Int? {
    rooms[partition]?[room]?.isSaving = true
    return rooms[partition]?[room]?.gone
  }

  /// Returns the first message after a snapshot at the position `code`, and the newest batch of
  /// each sender before it; `nil` if the partition has begun again since.
  package func basis(
    of room: RoomName, _ partition: Partition, at code: Int
  ) -> (start: UInt64, senders: [String: SenderPositions.Position])? {
    guard let room = rooms[partition]?[room], room.isSaving else { return nil }
    let message = Self.message(of: code)
    let isWhole = room.senders.lastPart(of: message).map { code >= $0 } ?? true
    let start = isWhole ? message + 1 : message
    return (start, room.senders.positions(before: start))
  }

  /// Records that a snapshot is stored, which contains everything before `start`.
  package mutating func endSnapshot(
    of name: RoomName, _ partition: Partition, from start: UInt64, at now: Instant
  ) {
    guard var room = rooms[partition]?[name] else { return }
    room.isSaving = false
    let last = Self.message(of: room.held)
    room.uncovered = start > last ? nil : Uncovered(first: start, since: now)
    rooms[partition]?[name] = room
  }

  /// Records that a snapshot could not be created or stored.
  package mutating func failSnapshot(of name: RoomName, _ partition: Partition, until next: Instant)
  {
    rooms[partition]?[name]?.isSaving = false
    rooms[partition]?[name]?.uncovered?.notBefore = next
  }

  /// Returns the last message up to which snapshots contain everything that was read of a
  /// partition. The snapshot of the room `without` contains everything before `start`.
  package func covered(_ partition: Partition, without room: RoomName, from start: UInt64) -> UInt64
  {
    guard let rooms = rooms[partition] else { return 0 }
    var end = newest[partition] ?? 0
    for (name, other) in rooms {
      guard name == room || other.uncovered != nil else { continue }
      let first = name == room ? start : other.uncovered?.first ?? start
      if name == room, Self.message(of: other.held) < start { continue }
      end = min(end, max(first, 1) - 1)
    }
    return end
  }
}
