import Wording

/// Numbers with a fixed number of decimals, written without floating point: the same text everywhere.
package enum FixedPoint {
  /// `value` is in units of the last decimal: 12345 with 3 decimals is `12.345`.
  ///
  /// - Parameter trimmed: leaves out zeros at the end.
  package static func text(_ value: Int64, decimals: Int, trimmed: Bool = false) -> String {
    var scale: UInt64 = 1
    for _ in 0..<decimals { scale *= 10 }
    let whole = value.magnitude / scale
    var text = "\(value < 0 ? "-" : "")\(whole)"
    guard decimals > 0 else { return text }
    var fraction = Format.padded(value.magnitude % scale, decimals)
    if trimmed {
      while fraction.last == "0" { fraction.removeLast() }
      if fraction.isEmpty { return text }
    }
    text += ".\(fraction)"
    return text
  }

  /// Nanoseconds as milliseconds with `decimals` (at most 6), rounded half up.
  package static func milliseconds(_ nanoseconds: Int64, decimals: Int = 3) -> String {
    var unit: Int64 = 1
    for _ in 0..<(6 - decimals) { unit *= 10 }
    return text((nanoseconds + unit / 2) / unit, decimals: decimals)
  }

  /// Nanoseconds as seconds, such as `1.5 s`, cut off to milliseconds.
  static func seconds(_ nanoseconds: Int64) -> String {
    text(nanoseconds / 1_000_000, decimals: 3, trimmed: true) + " s"
  }
}
