/// Numbers as people read them. No locale: the same text everywhere.
package enum Format {
  /// With a comma between groups of three digits.
  package static func count(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var result = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// With one decimal below a hundred, with none from there on.
  package static func rate(_ number: Double) -> String {
    guard number.isFinite else { return "-" }
    if abs(number) >= 99.95 { return count(Int(clamping: number.rounded())) }
    let tenths = Int((number * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  /// With binary units: `1.5 MiB`.
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

  /// `7 s`, `4:12`, `1:02:03`; days in front if there are some.
  package static func duration(seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24)
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60)
    if days > 0 { return "\(days) d \(hours):\(two(minutes)):\(two(rest))" }
    if hours > 0 { return "\(hours):\(two(minutes)):\(two(rest))" }
    return minutes > 0 ? "\(minutes):\(two(rest))" : "\(rest) s"
  }

  /// The better of the two units: `850 us`, `12.5 ms`.
  package static func microseconds(_ number: Int) -> String {
    number < 1000 ? "\(number) us" : "\(rate(Double(number) / 1000)) ms"
  }
}

extension Int {
  /// The nearest integer that there is, for a number beyond the range.
  init(clamping number: Double) {
    self = Int(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
  }
}
