import BatchDelivery
package import LiveEvents
package import RateLimiting
import WireFormats

/// Passes each message of the replicated log to the local daemon, without repetitions.
///
/// The log contains a batch twice if the answer to the first copy was lost and the sender or the
/// gateway sent it again. The feed knows the newest batch of each sender from the log or from a
/// snapshot, and passes on only the first copy. Each batch is sent with its position in the log. If
/// a message is read again, the daemon therefore rejects the batches that it already has.
///
/// A host action waits until the daemon has acknowledged all earlier batches of its room. Later
/// batches of the room wait until the host action is carried out. If the daemon does not have a
/// room, the feed makes the daemon open the room before it sends the first events. Events would
/// also open the room, but a daemon that has its maximum number of rooms would reject them. If it
/// then accepted later events, the rejected events would be missing from the room.
package struct LogFeed: Sendable {
  /// The state of a room when reading its log begins.
  package struct StartingPoint: Sendable {
    /// The newest position in the log that the daemon has.
    package var held: Int
    var daemonHasRoom: Bool
    /// The first message of the log that the snapshot does not contain.
    package var start: UInt64 = 0
    var senders: [String: SenderPositions.Position] = [:]

    /// - Parameter daemonHasRoom: whether the daemon has the room. By default, it is assumed to
    ///   have the room if it has any position in the log.
    package init(held: Int, daemonHasRoom: Bool? = nil) {
      self.held = held
      self.daemonHasRoom = daemonHasRoom ?? (held > 0)
    }

    package init(held: Int, after header: SnapshotHeader, daemonHasRoom: Bool? = nil) {
      self.init(held: held, daemonHasRoom: daemonHasRoom)
      (start, senders) = (header.start, header.senders)
    }
  }

  /// A host action, which the daemon carries out when the node calls it.
  package struct Act: Sendable {
    package let partition: Partition
    package let room: RoomName
    /// The position of the host action in the log.
    package let code: Int
    /// The term in which the host action was read; each beginning of its partition starts a new
    /// term.
    let term: Int
    package let log: String
    package let act: LoggedAct
    /// Whether the feed itself added this host action, to open the room for events of the log.
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
    /// The code of the last part that the daemon had when reading began, or that the feed has read
    /// since then.
    var held: Int
    var start: UInt64
    /// The code of the last part that the daemon acknowledged to this feed.
    var acknowledged = 0
    /// The number of batches that the daemon has not acknowledged.
    var inFlight = 0
    /// Waiting host actions and batches, in the order of the log.
    var queue: [Item] = []
    var isActing = false
    /// The host action that opens the room for the first batch of the queue.
    var opening: Act?
    /// Whether the daemon has the room, according to its last answer.
    var daemonHasRoom: Bool
    /// The code of the host action that ended the room in the daemon; `nil` if the room was not
    /// ended, or if later batches or host actions followed.
    var closedAt: Int?
    /// Whether the daemon refuses to open the room. While it does, the feed drops the room's
    /// messages.
    var isRefused = false
    /// The messages of the room's log that no snapshot contains.
    var unsavedPart: UnsavedPart?
    var isSaving = false

    init(_ startingPoint: StartingPoint) {
      senders = SenderPositions(startingPoint.senders)
      (held, start, daemonHasRoom) = (
        startingPoint.held, startingPoint.start, startingPoint.daemonHasRoom
      )
    }
  }

  private struct UnsavedPart: Sendable {
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
  /// For each room, the position that the daemon must acknowledge before ``hasCaughtUp(_:)``
  /// returns true.
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
  /// The number of batches that the daemon has acknowledged, and the number of repeated messages,
  /// which were skipped.
  package private(set) var delivered = 0
  package private(set) var duplicates = 0
  /// The number of messages that could not be read.
  package private(set) var unreadable = 0

  package init() {}

  package var isFull: Bool { bytes >= Self.window }

  package mutating func begin(_ partition: Partition, _ known: [RoomName: StartingPoint]) {
    rooms[partition] = known.mapValues { Room($0) }
    terms[partition] = nextTerm
    nextTerm += 1
    (newest[partition], goals[partition]) = (nil, nil)
  }

  /// Ends a partition. Batches that were passed on are still written; those that wait for a host
  /// action are dropped.
  package mutating func end(_ partition: Partition) {
    for room in rooms.removeValue(forKey: partition)?.values ?? [:].values {
      for item in room.queue { bytes -= Self.size(item) }
    }
    (newest[partition], goals[partition]) = (nil, nil)
    acts.removeAll { $0.partition == partition }
  }

  /// Ends all partitions because the connection to the daemon is lost. Each partition must begin
  /// again.
  package mutating func reset() {
    (rooms, newest, goals, batches, syncs, acts) = ([:], [:], [:], [], [], [])
    (written, bytes) = (0, 0)
  }

  /// Passes on a message of the log.
  /// - Parameter log: identifies the stream. Another stream with the same name has another
  ///   identifier, so that their positions are not confused.
  package mutating func received(
    _ body: [UInt8], sequence: UInt64, room: RoomName, partition: Partition, log: String,
    at now: Instant
  ) {
    guard rooms[partition] != nil else { return }
    precondition(sequence > newest[partition] ?? 0, "the log of \(partition) is read out of order")
    newest[partition] = sequence
    guard let message = LogMessage(bytes: body) else { return unreadable += 1 }
    // The room is removed from the dictionary while it is changed, because changing it would
    // otherwise copy it.
    var known = rooms[partition]?.removeValue(forKey: room) ?? Room(StartingPoint(held: 0))
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
    if known.unsavedPart == nil { known.unsavedPart = UnsavedPart(first: sequence, since: now) }
    known.unsavedPart?.bytes += body.count
    if known.isRefused { return }
    let term = terms[partition] ?? 0
    if isAct {
      guard first > known.held else { return }
      known.held = first
      guard let act = LoggedAct(message.lines) else { return unreadable += 1 }
      return enqueue(
        .act(
          Act(partition: partition, room: room, code: first, term: term, log: log, act: act)),
        &known)
    }
    for (index, part) in parts.enumerated() {
      let code = first + min(index, Self.partsPerMessage - 1)
      guard code > known.held else { continue }
      known.held = code
      let position = BatchLine.position(session: log, sequence: code) + [0x0A]
      enqueue(
        .batch(
          Batch(
            partition: partition, room: room, term: term, code: code, log: log,
            bytes: position + part, size: part.count)),
        &known)
    }
  }

  private mutating func enqueue(_ item: Item, _ room: inout Room) {
    bytes += Self.size(item)
    room.queue.append(item)
    advance(&room)
  }

  /// Passes on the items of a queue that no longer have to wait.
  private mutating func advance(_ room: inout Room) {
    while !room.isActing, let first = room.queue.first {
      switch first {
      case .batch(let batch):
        guard room.daemonHasRoom else {
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
      // A batch that was read in an earlier term of the partition does not count, because the
      // room's state was replaced since.
      guard batch.term == terms[batch.partition],
        var room = rooms[batch.partition]?.removeValue(forKey: batch.room)
      else { continue }
      if room.inFlight > 0 {
        room.inFlight -= 1
        room.closedAt = nil
        recordAcknowledged(batch.code, &room)
        advance(&room)
      }
      rooms[batch.partition]?[batch.room] = room
    }
    return true
  }

  /// Whether the daemon has all of a partition's messages that had been read when this function was
  /// first called for the partition.
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
    // While a snapshot is being stored, the changes are still needed, because the snapshot may show
    // the room at any moment since it was requested.
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

  /// Returns the host actions to carry out now, each once. Call ``ended(_:isGone:)`` for each.
  package mutating func nextActs() -> [Act] {
    defer { acts = [] }
    return acts
  }

  /// Whether this node must still carry out a host action.
  package func isActing(_ act: Act) -> Bool {
    guard let room = rooms[act.partition]?[act.room], room.isActing,
      act.term == terms[act.partition]
    else { return false }
    if let opening = room.opening { return act.isOpening && opening.code == act.code }
    guard case .act(let first)? = room.queue.first else { return false }
    return first.code == act.code
  }

  /// Records that the daemon has carried out a host action.
  /// - Parameter isGone: whether the daemon does not have the room afterwards.
  package mutating func ended(_ act: Act, isGone: Bool = false) {
    guard isActing(act), var room = rooms[act.partition]?.removeValue(forKey: act.room) else {
      return
    }
    (room.isActing, room.opening, room.daemonHasRoom) = (false, nil, !isGone)
    if !act.isOpening {
      bytes -= Self.size(room.queue.removeFirst())
      room.closedAt = isGone ? act.code : nil
      // A snapshot that is being stored may not contain this host action, so it does not count.
      if isGone { room.isSaving = false }
      recordAcknowledged(act.code, &room)
    } else if isGone {
      refuse(&room)
    } else {
      room.closedAt = nil
    }
    advance(&room)
    rooms[act.partition]?[act.room] = room
  }

  // MARK: Rooms that the daemon does not open

  /// Records that the daemon has refused a room: the daemon does not have the room although a
  /// snapshot of it was requested. Returns `false` without recording this if a pending host action
  /// or the closing of the room explains why the room does not exist.
  package mutating func refuse(_ name: RoomName, _ partition: Partition) -> Bool {
    guard var room = rooms[partition]?[name], room.isSaving, !room.isActing, room.closedAt == nil,
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

  /// Among the rooms whose snapshots are due, returns the room with the most bytes since its last
  /// snapshot, in O(number of rooms). The snapshot of a closed room is due immediately. Other
  /// changed rooms need a snapshot after `interval`, or after `bytes` in the log.
  package func nextSnapshot(
    every interval: Interval, or bytes: Int, at now: Instant
  ) -> (partition: Partition, room: RoomName)? {
    var best: (partition: Partition, room: RoomName, bytes: Int)?
    for (partition, rooms) in rooms {
      for (name, room) in rooms {
        guard let unsavedPart = room.unsavedPart, !room.isSaving, !room.isActing, !room.isRefused,
          now >= unsavedPart.notBefore ?? now,
          room.closedAt != nil || now - unsavedPart.since >= interval || unsavedPart.bytes >= bytes,
          unsavedPart.bytes > best?.bytes ?? -1
        else { continue }
        best = (partition, name, unsavedPart.bytes)
      }
    }
    return best.map { ($0.partition, $0.room) }
  }

  /// Records that a snapshot of a room was requested. If a host action has ended the room, returns
  /// the position of that host action; the snapshot then consists of a header without a state.
  @discardableResult
  package mutating func beginSnapshot(of room: RoomName, _ partition: Partition) -> Int? {
    rooms[partition]?[room]?.isSaving = true
    return rooms[partition]?[room]?.closedAt
  }

  /// For a snapshot at the position `code`, returns the first message after the snapshot, and the
  /// newest batch of each sender before that message; `nil` if the partition has begun again since.
  package func snapshotStart(
    of room: RoomName, _ partition: Partition, at code: Int
  ) -> (start: UInt64, senders: [String: SenderPositions.Position])? {
    guard let room = rooms[partition]?[room], room.isSaving else { return nil }
    let message = Self.message(of: code)
    let isWhole = room.senders.lastPart(of: message).map { code >= $0 } ?? true
    let start = isWhole ? message + 1 : message
    return (start, room.senders.positions(before: start))
  }

  /// Records that the store now has a snapshot that contains everything before `start`.
  package mutating func endSnapshot(
    of name: RoomName, _ partition: Partition, from start: UInt64, at now: Instant
  ) {
    guard var room = rooms[partition]?[name] else { return }
    room.isSaving = false
    let last = Self.message(of: room.held)
    room.unsavedPart = start > last ? nil : UnsavedPart(first: start, since: now)
    rooms[partition]?[name] = room
  }

  /// Records that a snapshot could not be created or stored.
  package mutating func failSnapshot(of name: RoomName, _ partition: Partition, until next: Instant)
  {
    rooms[partition]?[name]?.isSaving = false
    rooms[partition]?[name]?.unsavedPart?.notBefore = next
  }

  /// Returns the last message of a partition such that snapshots contain everything up to this
  /// message. Assumes that the snapshot of `room` contains everything before `start`.
  package func savedUpTo(_ partition: Partition, without room: RoomName, from start: UInt64)
    -> UInt64
  {
    guard let rooms = rooms[partition] else { return 0 }
    var end = newest[partition] ?? 0
    for (name, other) in rooms {
      guard name == room || other.unsavedPart != nil else { continue }
      let first = name == room ? start : other.unsavedPart?.first ?? start
      if name == room, Self.message(of: other.held) < start { continue }
      end = min(end, max(first, 1) - 1)
    }
    return end
  }
}
