package import RateLimiting

/// A queue of lines for the daemon, in batches. Keeps each batch until the daemon acknowledges it.
///
/// A batch is written as its batch number, its lines and a `sync`. After a lost connection, the
/// unacknowledged batches are written again unchanged, so that a room can reject batches that it
/// already has. Reads no clock: the caller passes the time.
package struct DeliveryQueue: Sendable {
  /// The size in bytes at which a batch is closed. A closed batch may be written while earlier
  /// batches are unacknowledged.
  static let fullBatch = 64 * 1024
  /// The maximum number of unacknowledged batches. 32 batches are 2 MiB. An acknowledgement takes
  /// about the time of one frame and one fsync.
  static let maximumUnanswered = 32

  private struct Batch: Sendable {
    let sequence: Int
    var bytes: [UInt8] = []
    var lines = 0
    var began: Instant
  }

  private let session: String
  private let maximumBytes: Int
  /// The closed batches, oldest first. The first `written` batches were sent to the daemon.
  private var complete: [Batch] = []
  private var written = 0
  /// The batch that is being filled.
  private var open: Batch?
  private var nextSequence: Int
  /// The total size in bytes of all unacknowledged lines.
  package private(set) var bytes = 0
  /// The number of lines that the daemon has acknowledged.
  package private(set) var delivered = 0
  private var hasBeenFull = false

  /// - Parameters:
  ///   - session: The name of this run in its batch numbers, which no other run may use.
  ///   - firstSequence: The number of the first batch.
  ///   - maximumBytes: The number of unacknowledged bytes at which the source must stop reading.
  package init(session: String, firstSequence: Int = 1, maximumBytes: Int) {
    self.session = session
    self.maximumBytes = maximumBytes
    nextSequence = firstSequence
  }

  /// Returns whether the source must stop reading: true from the time when the limit is reached
  /// until half of it is free again.
  package mutating func isFull() -> Bool {
    hasBeenFull = hasBeenFull ? bytes > maximumBytes / 2 : bytes >= maximumBytes
    return hasBeenFull
  }

  package var isEmpty: Bool { bytes == 0 }

  /// The number of unacknowledged lines. Takes O(number of batches).
  package var lines: Int { complete.reduce(open?.lines ?? 0) { $0 + $1.lines } }

  /// The time at which the oldest unacknowledged batch was begun.
  package var waitingSince: Instant? { (complete.first ?? open)?.began }

  /// Adds a line, which is given without its line ending. Takes O(length), amortised.
  package mutating func append(_ line: UnsafeRawBufferPointer, at now: Instant) {
    begin(at: now)
    open?.bytes.append(contentsOf: line)
    open?.bytes.append(0x0A)
    added(bytes: line.count + 1, lines: 1)
  }

  /// Adds `count` lines with their line endings. Takes O(length), amortised.
  package mutating func append(lines: [UInt8], count: Int, at now: Instant) {
    begin(at: now)
    open?.bytes.append(contentsOf: lines)
    added(bytes: lines.count, lines: count)
  }

  private mutating func begin(at now: Instant) {
    guard open == nil else { return }
    open = Batch(sequence: nextSequence, began: now)
    nextSequence += 1
  }

  private mutating func added(bytes count: Int, lines: Int) {
    open?.lines += lines
    bytes += count
    if let batch = open, batch.bytes.count >= Self.fullBatch { close(batch) }
  }

  private mutating func close(_ batch: Batch) {
    complete.append(batch)
    open = nil
  }

  /// Returns the bytes to write now, or `nil` to wait for more lines or an acknowledgement.
  ///
  /// A batch that is not full waits until all earlier batches are acknowledged. At high rates the
  /// batches therefore grow; at low rates no line waits.
  package mutating func nextWrite() -> [UInt8]? {
    if written == complete.count, written == 0, let batch = open { close(batch) }
    guard written < complete.count, written < Self.maximumUnanswered else { return nil }
    let batch = complete[written]
    written += 1
    return BatchLine.position(session: session, sequence: batch.sequence) + [0x0A] + batch.bytes
      + BatchLine.sync(token: token(batch.sequence)) + [0x0A]
  }

  private func token(_ sequence: Int) -> String { "\(session) \(sequence)" }

  /// Removes the batches that a `sync` answer from the daemon acknowledges. Returns false if the
  /// token belongs to another queue.
  @discardableResult
  package mutating func acknowledge(token: String) -> Bool {
    guard let index = complete[..<written].firstIndex(where: { self.token($0.sequence) == token })
    else { return false }
    for batch in complete[...index] {
      bytes -= batch.bytes.count
      delivered += batch.lines
    }
    complete.removeFirst(index + 1)
    written -= index + 1
    return true
  }

  /// Records that the connection to the daemon is lost, so that all unacknowledged batches are
  /// written again.
  package mutating func disconnected() { written = 0 }
}
