import Glibc

/// A queue of lines between a source and the daemon, which returns the lines that are due, in
/// order. Callers pass in the time.
package struct PlaybackQueue: Sendable {
  /// The result of ``moveDueLines(now:limit:into:)``.
  package enum Outcome: Equatable, Sendable {
    /// As many bytes were returned as requested; more lines may be due.
    case full
    /// The next line is due at this time.
    case waits(until: Int64)
    /// The queue is empty; the source must supply more input.
    case needsInput
    case ended
  }

  /// The length above which a line is passed on in pieces, to limit the memory used here. The
  /// daemon rejects and counts such a line.
  package static let longestLine = 1 << 20

  private let format: LineFormat
  /// The due times of lines; nil if lines are played at full speed.
  private var pacer: Pacer?
  private var bytes: [UInt8] = []
  private var start = 0
  /// There is no line ending between `start` and this offset, so the search for one continues here.
  private var searched = 0
  private var hasEnded = false
  private var due: Int64?
  /// Whether the output so far ends in the middle of a line.
  package private(set) var isInsideLine = false
  package private(set) var lines = 0

  package init(speed: PlaybackSpeed, format: LineFormat) {
    self.format = format
    switch speed {
    case .maximum: pacer = nil
    case .times(let factor): pacer = Pacer(factor: factor)
    }
  }

  package var count: Int { bytes.count - start }

  package mutating func append(_ more: some Collection<UInt8>) {
    if start > 0, start == bytes.count || start > 1 << 18 {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Marks the end of the input. Bytes after the last line ending count as a line.
  package mutating func finish() {
    guard !hasEnded else { return }
    hasEnded = true
    if isInsideLine || start < bytes.count { bytes.append(0x0A) }
  }

  /// Drops an incomplete line at the end of the queue, after reading has failed in the middle of
  /// the line.
  package mutating func dropUnended() {
    let end = bytes[start...].lastIndex(of: 0x0A).map { $0 + 1 } ?? start
    bytes.removeSubrange(end...)
    searched = min(searched, end)
  }

  /// Drops everything still in the queue and marks the end of the input. Must not be called in the
  /// middle of a line.
  package mutating func abandon() {
    precondition(!isInsideLine)
    bytes = []
    (start, searched) = (0, 0)
    hasEnded = true
  }

  /// Moves due lines to the end of `output` until it holds about `limit` bytes. Throws ``Failure``
  /// at the first line that does not have the chosen format.
  package mutating func moveDueLines(
    now: Int64, limit: Int, into output: inout [UInt8]
  ) throws(Failure) -> Outcome {
    while output.count < limit {
      guard let end = lineEnd() else {
        if count > Self.longestLine { moveBytes(to: bytes.count, into: &output, endsLine: false) }
        return hasEnded ? .ended : .needsInput
      }
      if !isInsideLine {
        try checkFormat(bytes[start..<end])
        if let wait = wait(end: end, now: now) { return .waits(until: wait) }
      }
      moveBytes(to: end + 1, into: &output, endsLine: true)
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

  private mutating func moveBytes(to end: Int, into output: inout [UInt8], endsLine: Bool) {
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

  private func checkFormat(_ line: ArraySlice<UInt8>) throws(Failure) {
    guard format != .auto, !format.admits(line) else { return }
    throw Failure(.badData, "line \(lines + 1) is not in the format \(format.rawValue)")
  }
}
