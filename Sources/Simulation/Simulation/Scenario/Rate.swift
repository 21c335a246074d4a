import HangSimulation
import RateLimiting
import Wording
import YAMLReader

extension Rate {
  /// Parses `400/s`, `12.5/m`, or `3/h`. Returns `nil` for any other text, and for rates above one
  /// per nanosecond.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = Quantity.nanoseconds("1\(parts[1])"),
      let millionths = Quantity.decimal(parts[0], times: 1_000_000)
    else { return nil }
    guard millionths > 0 else {
      self.init(interval: nil)
      return
    }
    let (scaled, overflow) = unit.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow, scaled / millionths > 0 else { return nil }
    self.init(interval: VirtualTime(nanoseconds: scaled / millionths))
  }
}

extension YAMLNode {
  /// Reads a duration in virtual time.
  func duration(positive: Bool = false) throws(ConfigurationError) -> VirtualTime {
    VirtualTime(nanoseconds: try interval(positive: positive).nanoseconds)
  }

  func rate() throws(ConfigurationError) -> Rate {
    let text = try text()
    guard let rate = Rate(text) else {
      let hint = Quantity.millionths(text) != nil ? "; did you mean '\(text)/s'?" : ""
      throw problem("expected a rate such as 10/s or 3/m, not '\(text)'\(hint)")
    }
    return rate
  }

  /// Reads a share in thousandths.
  func share() throws(ConfigurationError) -> Int64 {
    let text = try text()
    guard let share = Quantity.share(text) else {
      throw problem("expected a share from 0% to 100%, not '\(text)'")
    }
    return share
  }

  /// Reads a factor in millionths that is at least `minimum`.
  func factor(atLeast minimum: Int64) throws(ConfigurationError) -> Int64 {
    let text = try text()
    guard let value = Quantity.millionths(text), value >= minimum, value <= 1_000_000_000 else {
      throw problem(
        "expected a factor of \(FixedPoint.text(minimum, decimals: 6, trimmed: true)) to 1000, "
          + "not '\(text)'")
    }
    return value
  }
}
