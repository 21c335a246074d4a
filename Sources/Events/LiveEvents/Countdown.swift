/// The time left until something that events announced.
package enum Countdown {
  /// Whole seconds from `time` to `end`, rounded up; 0 once it has come. `nil` if the difference
  /// cannot be expressed in milliseconds.
  package static func seconds(to end: Timestamp, from time: Timestamp) -> Int? {
    let (left, overflow) = end.subtractingReportingOverflow(time)
    return overflow ? nil : Int(max(0, left / 1_000 + (left % 1_000 > 0 ? 1 : 0)))
  }
}
