/// Formats numbers for people, without a locale, so that texts are the same everywhere.
package enum Format {
  /// Returns a number with a comma between groups of three digits.
  package static func count(_ number: Int) -> String {
    let magnitude = number.magnitude
    guard magnitude >= 1_000 else { return String(number) }
    return count(number / 1_000) + "," + String(magnitude % 1_000 + 1_000).dropFirst()
  }

  /// Returns a number and a noun: `1 message`, `2,500 messages`. Pass `plural` if the plural is not
  /// the singular with an `s`.
  package static func count(
    _ number: Int, _ singular: String, plural: String? = nil
  ) -> String {
    count(number) + " " + (number == 1 ? singular : plural ?? singular + "s")
  }

  /// Returns a number with one decimal below a hundred, and without decimals otherwise.
  package static func rate(_ number: Double) -> String {
    guard number.isFinite else { return "-" }
    if abs(number) >= 99.95 { return count(Int(clamping: number.rounded())) }
    let tenths = Int((number * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  /// Returns a fraction from 0 to 1 as a whole percentage: `57%`.
  package static func percent(_ share: Double) -> String { "\(Int(clamping: share * 100))%" }

  /// Returns a size with binary units: `1.5 MiB`.
  package static func bytes(_ number: Int) -> String {
    var value = Double(number)
    var unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1023.95, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(number) B" : "\(rate(value)) \(units[unit])"
  }

  /// Returns a duration: `7 s`, `4:12`, `1:02:03`, `2 d 1:02:03`.
  package static func duration(seconds: Int) -> String {
    func two(_ number: Int) -> String { padded(number, 2) }
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24)
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60)
    if days > 0 { return "\(days) d \(hours):\(two(minutes)):\(two(rest))" }
    if hours > 0 { return "\(hours):\(two(minutes)):\(two(rest))" }
    return minutes > 0 ? "\(minutes):\(two(rest))" : "\(rest) s"
  }

  /// Returns the time of day in UTC, such as `13:17:57`, from milliseconds since 1970.
  package static func timeOfDay(milliseconds: Int64) -> String {
    let seconds = Int(milliseconds / 1_000)
    return [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
      .map { padded($0, 2) }.joined(separator: ":")
  }

  /// Returns a number, zero or greater, padded with leading zeros to at least `width` digits.
  package static func padded(
    _ number: some BinaryInteger, _ width: Int, radix: Int = 10
  ) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Returns a time in the more readable of two units: `850 us`, `12.5 ms`.
  package static func microseconds(_ number: Int) -> String {
    number < 1000 ? "\(number) us" : "\(rate(Double(number) / 1000)) ms"
  }
}

extension Int {
  /// Makes the nearest integer. A number beyond the range becomes the end of the range, and NaN the
  /// largest integer.
  package init(clamping number: Double) {
    self = Int(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
  }
}
