package import LiveEvents
package import RateLimiting
package import WireFormats

/// Batches on their way into the replicated log.
///
/// One message of each room is in flight at a time, so that the log has them in order whatever
/// happens to one of them. Batches that arrive meanwhile are gathered. A message without an answer
/// is sent again, without end. The log may then contain it twice, which its reader recognises by
/// the position. An answer to any of the copies counts, however late. The servers' own recognition
/// of repeats (`Nats-Msg-Id`) is not used, since it only covers two minutes. A value: the caller
/// passes the time.
package struct LogAppender<Receipt: Sendable>: Sendable {
  package struct Publication: Sendable {
    package let request: Int
    package let subject: String
    /// The stream that stores the message.
    package let stream: String
    package let body: [UInt8]
  }

  private struct Waiting: Sendable {
    var message: LogMessage
    var receipts: [Receipt]
    /// Whether batches may be added: the message has no position of its sender.
    var isOwn: Bool
  }

  private struct Line: Sendable {
    var waiting: [Waiting] = []
    /// The newest request for the first message.
    var request: Int?
    /// All requests for the first message that may still be answered.
    var requests: [Int] = []
    /// When the first message was first sent.
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
  /// The rooms that may have a message to send.
  private var ready: Set<RoomName> = []
  /// The time without an answer after which a message is sent again. A stream may be without a
  /// leader for longer, and forgets what it was sent then.
  package static var patience: Interval { .seconds(3) }
  /// How long an answer is accepted. It exceeds ``patience``, so that servers slower than that are
  /// not flooded with copies for ever.
  package static var memory: Interval { .seconds(30) }
  private static var pause: Interval { .milliseconds(250) }

  /// The number of messages stored, and of attempts to send one again.
  package private(set) var stored = 0
  package private(set) var repeated = 0
  /// The number of bytes of lines that are not in the log yet.
  package private(set) var bytes = 0 {
    didSet { precondition(bytes >= 0, "more bytes are stored than were appended") }
  }

  /// - Parameter session: identifies this run of the gateway; it must be unique.
  package init(session: String) { self.session = session }

  package var isEmpty: Bool { lines.isEmpty }

  /// When the oldest unanswered message was first sent.
  package var waitingSince: Instant? { lines.values.compactMap(\.sent).min() }

  /// Adds a batch. Its receipt is returned once the log has the batch and everything before it in
  /// its room.
  ///
  /// - Parameters:
  ///   - isAlone: whether the batch needs a message of its own.
  ///   - receipt: `nil` if the receipt of the room's next batch covers this one.
  package mutating func append(
    _ batch: [UInt8], position: BatchPosition?, in room: RoomName, isAlone: Bool = false,
    receipt: Receipt?
  ) {
    let receipts = receipt.map { [$0] } ?? []
    var line = lines[room] ?? Line()
    // A message that was sent must not change: a batch added to a copy would be lost if the log has
    // the first one.
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

  /// Whether no batch of a room is waiting or in flight.
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

  /// The log has a message. Returns the receipts of its batches.
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

  /// The log has not stored a message, or its fate is unknown. It is sent again after a pause.
  package mutating func failed(_ request: Int, at now: Instant) {
    guard let room = rooms.removeValue(forKey: request) else { return }
    lines[room]?.requests.removeAll { $0 == request }
    guard lines[room]?.request == request else { return }
    lines[room]?.request = nil
    lines[room]?.next = now + Self.pause
    ready.insert(room)
  }

  /// Schedules messages again that have had no answer for too long. The caller calls this several
  /// times per second.
  package mutating func tick(at now: Instant) {
    for (room, line) in lines {
      guard line.request != nil, let next = line.next, now >= next else { continue }
      lines[room]?.request = nil
      ready.insert(room)
    }
  }

  /// The connection is lost, and with it every answer.
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
