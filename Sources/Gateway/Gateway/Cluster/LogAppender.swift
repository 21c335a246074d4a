package import LiveEvents
package import RateLimiting
package import WireFormats

/// Appends batches to the replicated log.
///
/// Only one message of each room is in flight at a time, so that the log keeps the order of
/// messages even if one fails. Batches that arrive meanwhile are combined. A message is sent again
/// until the log has answered. The log may then contain the message twice; readers recognise
/// repetitions by the position. An answer to any of the copies counts, however late. The servers
/// could also recognise repetitions (`Nats-Msg-Id`), but only within two minutes, so this is not
/// used. The caller passes the time.
package struct LogAppender<Receipt: Sendable>: Sendable {
  package struct Publication: Sendable {
    package let request: Int
    package let subject: String
    package let stream: String
    package let body: [UInt8]
  }

  private struct Waiting: Sendable {
    var message: LogMessage
    var receipts: [Receipt]
    /// Whether batches may be added to the message. This is possible only if its position was not
    /// assigned by the sender.
    var isOwn: Bool
  }

  private struct Line: Sendable {
    var waiting: [Waiting] = []
    /// The newest request to store the first message.
    var request: Int?
    /// All requests to store the first message, as long as an answer to them may still arrive.
    var requests: [Int] = []
    /// The time at which the first message was first sent.
    var sent: Instant?
    /// The earliest time to send the first message again.
    var next: Instant?
  }

  /// The source in the positions that this gateway assigns.
  private let session: String
  private var nextSequence = 1
  private var nextRequest = 1
  private var lines: [RoomName: Line] = [:]
  private var rooms: [Int: RoomName] = [:]
  /// The rooms that may have a message that can be sent now.
  private var ready: Set<RoomName> = []
  /// How long to wait for an answer before a message is sent again. A stream may have no leader for
  /// longer than this, and messages sent during that time are lost.
  package static var patience: Interval { .seconds(3) }
  /// How long after a request its answer is still accepted. This is longer than ``patience``;
  /// otherwise servers that always answer later than that would receive the message again and
  /// again.
  package static var memory: Interval { .seconds(30) }
  private static var pause: Interval { .milliseconds(250) }

  /// The number of messages that the log has stored, and the number of messages that were sent
  /// again.
  package private(set) var stored = 0
  package private(set) var repeated = 0
  /// The number of bytes of lines that are not stored in the log yet.
  package private(set) var bytes = 0 {
    didSet { precondition(bytes >= 0, "more bytes are stored than were appended") }
  }

  /// - Parameter session: identifies this run of the gateway; it must be unique.
  package init(session: String) { self.session = session }

  package var isEmpty: Bool { lines.isEmpty }

  /// The time at which the oldest unanswered message was first sent.
  package var waitingSince: Instant? { lines.values.compactMap(\.sent).min() }

  /// Adds a batch. If `isAlone` is true, no other batch is added to its message. ``stored(_:)``
  /// returns the receipt once the log has stored the batch and everything before it in the room. A
  /// batch without a receipt is covered by the receipt of the next batch.
  package mutating func append(
    _ batch: [UInt8], position: BatchPosition?, in room: RoomName, isAlone: Bool = false,
    receipt: Receipt?
  ) {
    let receipts = receipt.map { [$0] } ?? []
    var line = lines[room] ?? Line()
    // A message must not change once it was sent. If batches were added before it is sent again,
    // they would be lost if the log has stored the first copy.
    let firstFree = line.sent == nil ? 0 : 1
    bytes += batch.count
    if let last = line.waiting.indices.last, last >= firstFree, batch.isEmpty {
      line.waiting[last].receipts += receipts
    } else if position == nil, !isAlone, let last = line.waiting.indices.last, last >= firstFree,
      line.waiting[last].isOwn,
      line.waiting[last].message.lines.count + batch.count <= LogMessage.fullMessage
    {
      line.waiting[last].message.lines += batch
      line.waiting[last].receipts += receipts
    } else {
      let own = BatchPosition(source: Text(session), sequence: nextSequence)
      if position == nil { nextSequence += 1 }
      line.waiting.append(
        Waiting(
          message: LogMessage(position: position ?? own, lines: batch), receipts: receipts,
          isOwn: position == nil && !isAlone))
    }
    lines[room] = line
    ready.insert(room)
  }

  /// Returns whether no batch of a room is waiting or in flight.
  package func isIdle(_ room: RoomName) -> Bool { lines[room] == nil }

  /// Returns the messages to send now.
  package mutating func next(at now: Instant) -> [Publication] {
    var publications: [Publication] = []
    for room in ready {
      guard var line = lines[room], line.request == nil, let first = line.waiting.first else {
        ready.remove(room)
        continue
      }
      if let next = line.next, now < next { continue }
      ready.remove(room)
      if line.next != nil { repeated += 1 }
      line.request = nextRequest
      line.requests.append(nextRequest)
      line.sent = line.sent ?? now
      line.next = now + Self.patience
      rooms[nextRequest] = room
      publications.append(
        Publication(
          request: nextRequest, subject: Partition(of: room).logSubject(of: room),
          stream: Partition(of: room).stream,
          body: first.message.bytes))
      nextRequest += 1
      lines[room] = line
    }
    return publications
  }

  /// Records that the log has stored a message. Returns the receipts of its batches.
  package mutating func stored(_ request: Int) -> [Receipt] {
    guard let room = rooms[request], var line = lines[room] else { return [] }
    for request in line.requests { rooms[request] = nil }
    let first = line.waiting.removeFirst()
    stored += 1
    bytes -= first.message.lines.count
    (line.request, line.requests, line.sent, line.next) = (nil, [], nil, nil)
    lines[room] = line.waiting.isEmpty ? nil : line
    if !line.waiting.isEmpty { ready.insert(room) }
    return first.receipts
  }

  /// Schedules a message again after a pause, because the log did not store it or did not answer.
  package mutating func failed(_ request: Int, at now: Instant) {
    guard let room = rooms.removeValue(forKey: request) else { return }
    lines[room]?.requests.removeAll { $0 == request }
    guard lines[room]?.request == request else { return }
    lines[room]?.request = nil
    lines[room]?.next = now + Self.pause
    ready.insert(room)
  }

  /// Schedules messages again that have not been answered in time. Must be called several times per
  /// second.
  package mutating func tick(at now: Instant) {
    for (room, line) in lines {
      guard line.request != nil, let next = line.next, now >= next else { continue }
      lines[room]?.request = nil
      ready.insert(room)
    }
  }

  /// Schedules all messages again, because the connection is lost.
  package mutating func disconnected() {
    rooms = [:]
    for (room, line) in lines where line.sent != nil {
      lines[room]?.request = nil
      lines[room]?.requests = []
      lines[room]?.next = line.sent
      ready.insert(room)
    }
  }
}
