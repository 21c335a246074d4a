/// The essentials of the values of one window; no peak and no dip is lost.
public struct Summary: Hashable, Sendable, Codable {
  /// The last value.
  public var last: Double
  /// The number of values; above zero.
  public var count: Int
  /// Their sum.
  public var sum: Double
  /// The smallest.
  public var minimum: Double
  /// The largest.
  public var maximum: Double

  /// The summary of a single value.
  @inlinable public init(_ value: Double) {
    last = value
    count = 1
    sum = value
    minimum = value
    maximum = value
  }

  /// A summary of nothing, to which the first value is added; never visible outside.
  @inlinable init() {
    last = 0
    count = 0
    sum = 0
    minimum = .infinity
    maximum = -.infinity
  }

  /// The arithmetic mean.
  @inlinable public var mean: Double { sum / Double(count) }

  /// Adds a later value.
  @inlinable public mutating func add(_ value: Double) {
    last = value
    count += 1
    sum += value
    minimum = value < minimum ? value : minimum
    maximum = value > maximum ? value : maximum
  }

  /// Adds a later window, as if its values had been added one by one (except for the rounding of
  /// the sum).
  @inlinable public mutating func add(_ later: Summary) {
    last = later.last
    count += later.count
    sum += later.sum
    minimum = Swift.min(minimum, later.minimum)
    maximum = Swift.max(maximum, later.maximum)
  }
}
