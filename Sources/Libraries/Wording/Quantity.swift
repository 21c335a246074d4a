/// Parses numbers with a unit. Uses only integers: `0.1s` is exactly 100 ms.
package enum Quantity {
  /// Parses `140us`, `0.5ms`, `90s`, `10m` or `1h` as nanoseconds; otherwise returns `nil`.
  package static func nanoseconds(_ text: String) -> Int64? {
    let units: [(suffix: String, nanoseconds: Int64)] = [
      ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
      ("h", 3_600_000_000_000),
    ]
    for unit in units where text.hasSuffix(unit.suffix) {
      return decimal(text.dropLast(unit.suffix.count), times: unit.nanoseconds)
    }
    return nil
  }

  /// Parses a percentage up to 100 % as thousandths: `16%` is 160; otherwise returns `nil`.
  package static func share(_ text: String) -> Int64? {
    guard text.hasSuffix("%"), let value = decimal(text.dropLast(), times: 10), value <= 1_000
    else { return nil }
    return value
  }

  /// Parses a plain number such as `1.75` as millionths.
  package static func millionths(_ text: String) -> Int64? { decimal(text[...], times: 1_000_000) }

  /// Parses a number with up to nine decimals and returns it times `factor`, rounded down. Returns
  /// `nil` for any other text, and for a number that is negative or too large.
  package static func decimal(_ text: Substring, times factor: Int64) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
      parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let whole = Int64(parts[0])
    else { return nil }
    let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
    guard !overflow else { return nil }
    guard parts.count == 2 else { return product }
    guard parts[1].count <= 9, let fraction = Int64(parts[1]) else { return nil }
    var scale: Int64 = 1
    for _ in 0..<parts[1].count { scale *= 10 }
    // Computed in two steps, because the product of `factor` and `fraction` may exceed 64 bits.
    let rest = factor / scale * fraction + factor % scale * fraction / scale
    let (sum, sumOverflow) = product.addingReportingOverflow(rest)
    return sumOverflow ? nil : sum
  }
}
