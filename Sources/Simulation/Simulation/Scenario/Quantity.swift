/// Readings of quantities as scenarios write them. Integers throughout: `0.1s` is exactly 100 ms.
enum Quantity {
  /// Nanoseconds of `140us`, `0.5ms`, `90s`, `10m` or `1h`; nil if it is none.
  static func duration(_ text: String) -> Int64? {
    let units: [(suffix: String, nanoseconds: Int64)] = [
      ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
      ("h", 3_600_000_000_000),
    ]
    for unit in units where text.hasSuffix(unit.suffix) {
      return decimal(text.dropLast(unit.suffix.count), times: unit.nanoseconds)
    }
    return nil
  }

  /// Thousandths of `16%`, that is 160.
  static func share(_ text: String) -> Int64? {
    guard text.hasSuffix("%"), let value = decimal(text.dropLast(), times: 10), value <= 1_000
    else { return nil }
    return value
  }

  /// Millionths of a plain number such as `1.75`.
  static func millionths(_ text: String) -> Int64? { decimal(text[...], times: 1_000_000) }

  /// A number with up to nine decimals times `factor`, rounded down; nil if it is none, negative or
  /// too large.
  static func decimal(_ text: Substring, times factor: Int64) -> Int64? {
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
    // In two steps, since the product of both may be beyond 64 bits.
    let rest = factor / scale * fraction + factor % scale * fraction / scale
    let (sum, sumOverflow) = product.addingReportingOverflow(rest)
    return sumOverflow ? nil : sum
  }
}

/// How often something happens.
package struct Rate: Hashable, Sendable {
  /// The mean time from one to the next; nil for never.
  package let interval: VirtualTime?

  package init(interval: VirtualTime?) { self.interval = interval }

  /// Reads `400/s`, `12.5/m` or `3/h`; nil if it is no rate, or above one per nanosecond.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = Quantity.duration("1\(parts[1])"),
      let millionths = Quantity.decimal(parts[0], times: 1_000_000)
    else { return nil }
    guard millionths > 0 else {
      interval = nil
      return
    }
    let (scaled, overflow) = unit.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow, scaled / millionths > 0 else { return nil }
    interval = VirtualTime(nanoseconds: scaled / millionths)
  }

  /// The rate times a number of millionths.
  func times(millionths factor: Int64) -> Rate {
    guard let interval, factor > 0 else { return Rate(interval: nil) }
    let scaled = Int128(interval.nanoseconds) * 1_000_000 / Int128(factor)
    return Rate(interval: VirtualTime(nanoseconds: max(1, Int64(clamping: scaled))))
  }
}
