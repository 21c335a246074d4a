import Glibc

/// Lines on their way from a source to the daemon; hands out those that are due, in order.
///
/// A value without a clock: time is passed in.
package struct PlaybackQueue: Sendable {
  /// The result of asking for lines.
  package enum Outcome: Equatable, Sendable {
    /// The limit was reached; more lines may be due.
    case full
    /// The next line is due at this time.
    case waits(until: Int64)
    /// Everything in the queue was handed out; more is needed from the source.
    case needsInput
    case ended
  }

  /// A longer line is passed on in pieces: the daemon counts it as rejected, and memory stays
  /// bounded here.
  package static let longestLine = 1 << 20

  private let format: LineFormat
  /// Nil to play as fast as possible.
  private var pacer: Pacer?
  private var bytes: [UInt8] = []
  private var start = 0
  /// There is no line ending between `start` and this offset.
  private var searched = 0
  private var hasEnded = false
  private var due: Int64?
  /// Whether the beginning of a line was handed out, but not its end.
  package private(set) var isInsideLine = false
  /// How many lines were handed out.
  package private(set) var lines = 0

  package init(speed: PlaybackSpeed, format: LineFormat) {
    self.format = format
    switch speed {
    case .maximum: pacer = nil
    case .times(let factor): pacer = Pacer(factor: factor)
    }
  }

  /// The number of bytes waiting.
  package var count: Int { bytes.count - start }

  package mutating func append(_ more: some Collection<UInt8>) {
    if start > 0, start == bytes.count || start > 1 << 18 {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Notes that the source has no more. A last line without a line ending counts as a line.
  package mutating func finish() {
    guard !hasEnded else { return }
    hasEnded = true
    if isInsideLine || start < bytes.count { bytes.append(0x0A) }
  }

  /// Drops an unfinished line, because the source failed in the middle of it.
  package mutating func dropUnended() {
    let end = bytes[start...].lastIndex(of: 0x0A).map { $0 + 1 } ?? start
    bytes.removeSubrange(end...)
    searched = min(searched, end)
  }

  /// Drops everything that was not handed out, and ends. Must be called between lines.
  package mutating func abandon() {
    precondition(!isInsideLine)
    bytes = []
    (start, searched) = (0, 0)
    hasEnded = true
  }

  /// Moves lines that are due to the end of `output`, until that holds about `limit` bytes.
  ///
  /// - Throws: ``Failure`` at the first line that does not have the chosen format.
  package mutating func take(
    now: Int64, limit: Int, into output: inout [UInt8]
  ) throws(Failure) -> Outcome {
    while output.count < limit {
      guard let end = lineEnd() else {
        if count > Self.longestLine { pass(to: bytes.count, into: &output, endsLine: false) }
        return hasEnded ? .ended : .needsInput
      }
      if !isInsideLine {
        try check(bytes[start..<end])
        if let wait = wait(end: end, now: now) { return .waits(until: wait) }
      }
      pass(to: end + 1, into: &output, endsLine: true)
    }
    return .full
  }

  private mutating func wait(end: Int, now: Int64) -> Int64? {
    guard pacer != nil else { return nil }
    let timestamp = bytes.withUnsafeBytes { buffer in
      LineTimestamp.milliseconds(in: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
    }
    let due = self.due ?? pacer?.due(timestamp: timestamp, now: now) ?? now
    self.due = due
    return due > now ? due : nil
  }

  private mutating func pass(to end: Int, into output: inout [UInt8], endsLine: Bool) {
    output.append(contentsOf: bytes[start..<end])
    start = end
    searched = end
    due = nil
    isInsideLine = !endsLine
    if endsLine { lines += 1 }
  }

  private mutating func lineEnd() -> Int? {
    let from = max(start, searched)
    let found = bytes.withUnsafeBytes { buffer -> Int? in
      guard let base = buffer.baseAddress, from < buffer.count,
        let end = memchr(base + from, 0x0A, buffer.count - from)
      else { return nil }
      return UnsafeRawPointer(end) - base
    }
    searched = found ?? bytes.count
    return found
  }

  private func check(_ line: ArraySlice<UInt8>) throws(Failure) {
    guard format != .auto, !format.admits(line) else { return }
    throw Failure(.badData, "line \(lines + 1) is not of the format \(format.rawValue)")
  }
}
