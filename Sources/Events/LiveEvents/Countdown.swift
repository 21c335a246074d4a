/// The time until an announced time.
package enum Countdown {
  /// Returns the whole seconds from `time` to `end`, rounded up, and 0 after the end. Returns `nil`
  /// if the difference overflows.
  package static func seconds(to end: Timestamp, from time: Timestamp) -> Int? {
    let (left, overflow) = end.subtractingReportingOverflow(time)
    return overflow ? nil : Int(max(0, left / 1_000 + (left % 1_000 > 0 ? 1 : 0)))
  }
}
