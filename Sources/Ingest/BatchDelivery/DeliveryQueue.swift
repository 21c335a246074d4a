package import RateLimiting

/// Lines on their way to the daemon, in batches, each kept until it is acknowledged.
///
/// A batch is written as its position, its lines and a `sync`. A connection that is lost takes nothing with
/// it: what was not acknowledged is written again on the next one, in the same batches, so that a room that
/// has one already rejects it. A value; the caller passes the time.
package struct DeliveryQueue: Sendable {
  /// Bytes of lines at which a batch is written although one before it is unanswered.
  static let fullBatch = 64 * 1024
  /// Batches that may be unanswered: 2 MiB, as an answer takes the time of a frame and of a disk.
  static let maximumUnanswered = 32

  private struct Batch: Sendable {
    let sequence: Int
    var bytes: [UInt8] = []
    var lines = 0
    var began: Instant
  }

  private let session: String
  private let maximumBytes: Int
  /// Batches that are complete, oldest first, the first `written` of which the daemon was sent.
  private var complete: [Batch] = []
  private var written = 0
  /// The batch that is being filled.
  private var open: Batch?
  private var nextSequence: Int
  /// Bytes of all lines that are not acknowledged.
  package private(set) var bytes = 0
  /// Lines that the daemon has acknowledged.
  package private(set) var delivered = 0
  private var hasBeenFull = false

  /// - Parameters:
  ///   - session: what positions name; no other run of a source may have the same.
  ///   - firstSequence: the number of the first batch.
  ///   - maximumBytes: of lines, beyond which the source must stop reading.
  package init(session: String, firstSequence: Int = 1, maximumBytes: Int) {
    self.session = session
    self.maximumBytes = maximumBytes
    nextSequence = firstSequence
  }

  /// Whether the source must not read: from when the limit is reached until half of it is free again.
  package mutating func isFull() -> Bool {
    hasBeenFull = hasBeenFull ? bytes > maximumBytes / 2 : bytes >= maximumBytes
    return hasBeenFull
  }

  package var isEmpty: Bool { bytes == 0 }

  /// Lines that are not acknowledged. O(number of batches).
  package var lines: Int { complete.reduce(open?.lines ?? 0) { $0 + $1.lines } }

  /// Since when the oldest line that is not acknowledged has been waiting.
  package var waitingSince: Instant? { (complete.first ?? open)?.began }

  /// Adds a line, given without its end. O(length), amortised.
  package mutating func append(_ line: UnsafeRawBufferPointer, at now: Instant) {
    begin(at: now)
    open?.bytes.append(contentsOf: line)
    open?.bytes.append(0x0A)
    added(bytes: line.count + 1, lines: 1)
  }

  /// Adds whole lines, each with its end. O(length), amortised.
  /// - Parameter count: how many lines these are.
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

  /// What to write now; `nil` if nothing is to be written until more lines or an answer come.
  ///
  /// A batch that is not full waits for the answer to the one before it, so that at high rates the batches
  /// grow and at low rates nothing waits.
  package mutating func nextWrite() -> [UInt8]? {
    if written == complete.count, written == 0, let batch = open { close(batch) }
    guard written < complete.count, written < Self.maximumUnanswered else { return nil }
    let batch = complete[written]
    written += 1
    return BatchLine.position(session: session, sequence: batch.sequence) + [0x0A] + batch.bytes
      + BatchLine.sync(token: token(batch.sequence)) + [0x0A]
  }

  private func token(_ sequence: Int) -> String { "\(session) \(sequence)" }

  /// The daemon has answered a `sync`. Returns whether it was one of this queue's.
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

  /// The connection to the daemon is lost: everything that is not acknowledged is to be written again.
  package mutating func disconnected() { written = 0 }
}
