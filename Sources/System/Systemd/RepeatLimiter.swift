/// The rate limit of one kind of entry. Entries over the limit are only counted.
package struct JournalRateLimit: Sendable, Equatable {
  /// The number of entries written in full within one interval.
  package var burst: Int
  package var intervalNanoseconds: UInt64

  package init(burst: Int, intervalNanoseconds: UInt64) {
    self.burst = burst
    self.intervalNanoseconds = intervalNanoseconds
  }
}

/// Admits `burst` records of a kind per interval and counts the others. At the end of the interval,
/// returns the last suppressed record with the number of suppressed records. Has no clock: the
/// caller passes monotonic nanoseconds.
package struct RepeatLimiter<Kind: Hashable & Sendable, Record: Sendable>: Sendable {
  private struct Window: Sendable {
    var end: UInt64
    var admitted: Int
    var heldBack: UInt64 = 0
    var last: Record?
  }

  private var windows: [Kind: Window] = [:]
  /// The kinds with suppressed records, in the order of their first suppressed record, because the
  /// output must not depend on the order of a dictionary.
  private var waiting: [Kind] = []
  private let maximumKinds: Int
  /// The time of the next pruning, so that a flood of new kinds does not search all windows each
  /// time.
  private var pruneNotBefore: UInt64 = 0
  private static var pruneInterval: UInt64 { 100_000_000 }

  /// - Parameter maximumKinds: The maximum number of limited kinds. Any additional kinds are not
  ///   limited.
  package init(maximumKinds: Int) {
    self.maximumKinds = maximumKinds
  }

  /// Returns whether to write `record` in full now, and otherwise counts it. Takes O(1), or
  /// O(kinds) at most ten times per second when `maximumKinds` is reached.
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
    // To keep the order, a kind stays suppressed after its window until its count is reported.
    if window.heldBack == 0 { waiting.append(kind) }
    window.heldBack += 1
    window.last = record
    return false
  }

  /// Removes the kinds whose window is over and that have no unreported count.
  private mutating func prune(now: UInt64) {
    guard now >= pruneNotBefore else { return }
    windows = windows.filter { $0.value.end > now || $0.value.heldBack > 0 }
    pruneNotBefore = now.addingReportingOverflow(Self.pruneInterval).partialValue
  }

  /// Returns the last suppressed record of the next kind whose interval is over, with the number of
  /// suppressed records.
  package mutating func removeDue(now: UInt64) -> (record: Record, count: UInt64)? {
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

  /// The time at which ``removeDue(now:)`` has a result, or nil if nothing is suppressed.
  package var nextDue: UInt64? {
    waiting.compactMap { windows[$0]?.end }.min()
  }
}
