import Glibc

/// Lines on their way from a source to the daemon: gives out those that are due, in order.
///
/// A value without a clock: time is passed in.
package struct PlaybackQueue: Sendable {
  /// What came of asking for lines.
  package enum Outcome: Equatable, Sendable {
    /// The limit was reached; there may be more that is due.
    case full
    /// The next line is due then.
    case waits(until: Int64)
    /// What is here is given out; a source that has more should give it.
    case needsInput
    case ended
  }

  /// A line that is longer is passed on in pieces: the daemon counts it as rejected, and memory here
  /// stays bounded.
  package static let longestLine = 1 << 20

  private let format: LineFormat
  /// Nil plays as fast as possible.
  private var pacer: Pacer?
  private var bytes: [UInt8] = []
  private var start = 0
  /// Up to here there is no line end after `start`.
  private var searched = 0
  private var hasEnded = false
  private var due: Int64?
  /// Whether the beginning of a line was given out and its end was not.
  package private(set) var isInsideLine = false
  /// Lines given out.
  package private(set) var lines = 0

  package init(speed: PlaybackSpeed, format: LineFormat) {
    self.format = format
    switch speed {
    case .maximum: pacer = nil
    case .times(let factor): pacer = Pacer(factor: factor)
    }
  }

  /// Bytes that wait.
  package var count: Int { bytes.count - start }

  package mutating func append(_ more: some Collection<UInt8>) {
    if start > 0, start == bytes.count || start > 1 << 18 {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The source has no more. A last line without a line end is a line.
  package mutating func finish() {
    guard !hasEnded else { return }
    hasEnded = true
    if isInsideLine || start < bytes.count { bytes.append(0x0A) }
  }

  /// The source broke in the middle of a line: what there is of it is no line.
  package mutating func dropUnended() {
    let end = bytes[start...].lastIndex(of: 0x0A).map { $0 + 1 } ?? start
    bytes.removeSubrange(end...)
    searched = min(searched, end)
  }

  /// Drops all that was not given out, and ends. To be called between lines.
  package mutating func abandon() {
    precondition(!isInsideLine)
    bytes = []
    (start, searched) = (0, 0)
    hasEnded = true
  }

  /// Moves lines that are due to the end of `output`, until it holds about `limit` bytes.
  /// - Throws: ``Failure`` at the first line that is not of the format.
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
