import Wording

/// Formats numbers with a fixed number of decimals without floating point, so that the text is the
/// same everywhere.
package enum FixedPoint {
  /// Returns `value`, in units of the last decimal, as text: 12345 with 3 decimals is `12.345`.
  /// `trimmed` removes trailing zeros.
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

  /// Returns nanoseconds as milliseconds with `decimals` (at most 6) decimals, rounded half up.
  package static func milliseconds(_ nanoseconds: Int64, decimals: Int = 3) -> String {
    var unit: Int64 = 1
    for _ in 0..<(6 - decimals) { unit *= 10 }
    return text((nanoseconds + unit / 2) / unit, decimals: decimals)
  }

  /// Returns nanoseconds as seconds, such as `1.5 s`, truncated to milliseconds.
  static func seconds(_ nanoseconds: Int64) -> String {
    text(nanoseconds / 1_000_000, decimals: 3, trimmed: true) + " s"
  }
}
