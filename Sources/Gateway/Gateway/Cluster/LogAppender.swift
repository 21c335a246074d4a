package import LiveEvents
package import RateLimiting
package import WireFormats

/// Batches on their way into the log.
///
/// Of each room one message is under way, so that the log has them in their order whatever happens to one of them;
/// what comes meanwhile is gathered. A message without an answer is sent again, without end, and may then be in the log
/// twice, which its reader knows by the position; an answer to any of its copies counts, however late. The servers' own
/// recognition of repeats (`Nats-Msg-Id`) is not asked for: it would only find those of two minutes. A value; the caller
/// passes the time.
package struct LogAppender<Receipt: Sendable>: Sendable {
  package struct Publication: Sendable {
    package let request: Int
    package let subject: String
    /// The stream that keeps it.
    package let stream: String
    package let body: [UInt8]
  }

  private struct Waiting: Sendable {
    var message: LogMessage
    var receipts: [Receipt]
    /// Whether more may be added: it has no position of its sender.
    var isOwn: Bool
  }

  private struct Line: Sendable {
    var waiting: [Waiting] = []
    /// The newest request of the first of them, all of them that may be answered, and when it was sent first.
    var request: Int?
    var requests: [Int] = []
    var sent: Instant?
    /// Not before then is it sent again.
    var next: Instant?
  }

  /// What the positions name that this gateway gives.
  private let session: String
  private var nextSequence = 1
  private var nextRequest = 1
  private var lines: [RoomName: Line] = [:]
  private var rooms: [Int: RoomName] = [:]
  /// Rooms that may have something to send.
  private var ready: Set<RoomName> = []
  /// How long an answer may take until the message is sent again. A stream is without a leader for longer, and forgets what
  /// it was sent then.
  package static var patience: Interval { .seconds(3) }
  /// How long an answer is waited for, so that servers that are slower than that are not flooded with copies for ever.
  package static var memory: Interval { .seconds(30) }
  private static var pause: Interval { .milliseconds(250) }

  /// Messages in the log, and those sent again.
  package private(set) var stored = 0
  package private(set) var repeated = 0
  /// Bytes of lines that are not in the log.
  package private(set) var bytes = 0

  /// - Parameter session: no other run of a gateway may have the same.
  package init(session: String) { self.session = session }

  package var isEmpty: Bool { lines.isEmpty }

  /// Since when the oldest message that was sent has been unanswered.
  package var waitingSince: Instant? { lines.values.compactMap(\.sent).min() }

  /// Takes a batch. Its receipt is given back once the batch, and all of the room before it, is in the log.
  ///
  /// - Parameters:
  ///   - isAlone: whether nothing else may be in its message.
  ///   - receipt: `nil` if the next batch of the room has one for both.
  package mutating func append(
    _ batch: [UInt8], position: BatchPosition?, in room: RoomName, isAlone: Bool = false,
    receipt: Receipt?
  ) {
    let receipts = receipt.map { [$0] } ?? []
    var line = lines[room] ?? Line()
    // The log may have what was sent, so that stays as it is: what is added to a copy would be lost with it.
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

  /// Whether nothing of a room is on its way.
  package func isIdle(_ room: RoomName) -> Bool { lines[room] == nil }

  /// What is to be sent now.
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

  /// The log has a message. Returns the receipts of what it held.
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

  /// The log has not taken a message, or it is not known: it is sent again after a pause.
  package mutating func failed(_ request: Int, at now: Instant) {
    guard let room = rooms.removeValue(forKey: request) else { return }
    lines[room]?.requests.removeAll { $0 == request }
    guard lines[room]?.request == request else { return }
    lines[room]?.request = nil
    lines[room]?.next = now + Self.pause
    ready.insert(room)
  }

  /// What has no answer for too long is to be sent again. To be called some times per second.
  package mutating func tick(at now: Instant) {
    for (room, line) in lines {
      guard line.request != nil, let next = line.next, now >= next else { continue }
      lines[room]?.request = nil
      ready.insert(room)
    }
  }

  /// The connection is lost, and with it all answers.
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
