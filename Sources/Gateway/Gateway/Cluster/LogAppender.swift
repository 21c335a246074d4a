package import LiveEvents
package import RateLimiting
package import WireFormats

/// Sends batches to the replicated log.
///
/// Only one message of each room is in flight at a time, so that the log keeps the order of
/// messages even if one fails. Batches that arrive meanwhile are combined. An unanswered message is
/// sent again until it is answered. The log may then contain the message twice; readers recognise
/// repetitions by the position. An answer to any of the copies counts, however late. The servers'
/// own recognition of repetitions (`Nats-Msg-Id`) is not used, because it covers only two minutes.
/// The caller passes the time.
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
    /// Whether batches may be added, because the message has no position assigned by its sender.
    var isOwn: Bool
  }

  private struct Line: Sendable {
    var waiting: [Waiting] = []
    /// The newest request to store the first message.
    var request: Int?
    /// All requests to store the first message that may still be answered.
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
  /// The rooms that may have a message to send.
  private var ready: Set<RoomName> = []
  /// The time without an answer after which a message is sent again. A stream may be without a
  /// leader for longer, and loses the messages sent meanwhile.
  package static var patience: Interval { .seconds(3) }
  /// How long an answer is accepted: longer than ``patience``, so that slower servers do not
  /// receive copies forever.
  package static var memory: Interval { .seconds(30) }
  private static var pause: Interval { .milliseconds(250) }

  /// The number of messages stored, and the number of repeated attempts.
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

  /// Adds a batch, in a message of its own if `isAlone`. The receipt is returned once the log has
  /// stored the batch and everything before it in the room; a batch without a receipt is covered by
  /// that of the next batch.
  package mutating func append(
    _ batch: [UInt8], position: BatchPosition?, in room: RoomName, isAlone: Bool = false,
    receipt: Receipt?
  ) {
    let receipts = receipt.map { [$0] } ?? []
    var line = lines[room] ?? Line()
    // A message that was sent must not change. If batches were added to a repetition, they would be
    // lost when the log stores the first copy.
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
