extension FixedWidthInteger {
  /// Returns the sum, or the largest integer if the sum overflows. An inexact count is better than
  /// a crash.
  package func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
