/// How many entries of one kind are written before the rest are only counted.
package struct JournalRateLimit: Sendable, Equatable {
  /// Entries written in full within one interval.
  package var burst: Int
  /// Length of the interval, nanoseconds.
  package var intervalNanoseconds: UInt64

  package init(burst: Int, intervalNanoseconds: UInt64) {
    self.burst = burst
    self.intervalNanoseconds = intervalNanoseconds
  }
}

/// Lets `burst` records of a kind through per interval and counts the others. At the end of the
/// interval, the last suppressed record is delivered with the number of suppressed records.
///
/// A value; time is passed in, in monotonic nanoseconds.
package struct RepeatLimiter<Kind: Hashable & Sendable, Record: Sendable>: Sendable {
  private struct Window: Sendable {
    var end: UInt64
    var admitted: Int
    var heldBack: UInt64 = 0
    var last: Record?
  }

  private var windows: [Kind: Window] = [:]
  /// Kinds with suppressed records, in the order of the first: the output must not depend on the
  /// order of a dictionary.
  private var waiting: [Kind] = []
  private let maximumKinds: Int
  /// Keeps a flood of new kinds from searching all windows each time.
  private var pruneNotBefore: UInt64 = 0
  private static var pruneInterval: UInt64 { 100_000_000 }

  /// - Parameter maximumKinds: Kinds beyond these are let through unlimited.
  package init(maximumKinds: Int) {
    self.maximumKinds = maximumKinds
  }

  /// Whether to write `record` in full now; if not, it is counted.
  ///
  /// - Complexity: O(1); O(kinds), ten times a second at most, when `maximumKinds` is reached.
  package mutating func admit(
    _ record: Record, kind: Kind, limit: JournalRateLimit, now: UInt64
  ) -> Bool {
    if windows[kind] == nil, windows.count >= maximumKinds {
      prune(now: now)
      if windows.count >= maximumKinds { return true }
    }
    let (sum, overflow) = now.addingReportingOverflow(limit.intervalNanoseconds)
    var window = windows[kind] ?? Window(end: overflow ? .max : sum, admitted: 0)
    defer { windows[kind] = window }
    if window.end <= now, window.heldBack == 0 {
      window = Window(end: overflow ? .max : sum, admitted: 0)
    }
    if window.heldBack == 0, window.admitted < limit.burst {
      window.admitted += 1
      return true
    }
    // Even after the end of the window, until its count is reported: the count keeps the order.
    if window.heldBack == 0 { waiting.append(kind) }
    window.heldBack += 1
    window.last = record
    return false
  }

  /// Forgets kinds whose window is over and has been reported.
  private mutating func prune(now: UInt64) {
    guard now >= pruneNotBefore else { return }
    windows = windows.filter { $0.value.end > now || $0.value.heldBack > 0 }
    pruneNotBefore = now.addingReportingOverflow(Self.pruneInterval).partialValue
  }

  /// The next kind whose interval is over: its last suppressed record and the number of all of
  /// them.
  package mutating func takeDue(now: UInt64) -> (record: Record, count: UInt64)? {
    for (index, kind) in waiting.enumerated() {
      guard let window = windows[kind], window.end <= now, let record = window.last else {
        continue
      }
      waiting.remove(at: index)
      windows[kind] = nil
      return (record, window.heldBack)
    }
    return nil
  }

  /// When ``takeDue(now:)`` has something to give, or nil if nothing is held back.
  package var nextDue: UInt64? {
    waiting.compactMap { windows[$0]?.end }.min()
  }
}
