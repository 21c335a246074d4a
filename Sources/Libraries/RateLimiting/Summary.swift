/// A summary of the values of one window, which preserves every peak and every dip.
public struct Summary: Hashable, Sendable, Codable {
  /// The last value.
  public var last: Double
  /// The number of values, at least 1.
  public var count: Int
  /// The sum of the values.
  public var sum: Double
  /// The smallest value.
  public var minimum: Double
  /// The largest value.
  public var maximum: Double

  /// Makes the summary of a single value.
  @inlinable public init(_ value: Double) {
    last = value
    count = 1
    sum = value
    minimum = value
    maximum = value
  }

  /// Makes an empty summary, to which the first value is added. Never visible to callers.
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

  /// Adds a later window. The result is the same as adding the window's values one by one, except
  /// for rounding of the sum.
  @inlinable public mutating func add(_ later: Summary) {
    last = later.last
    count += later.count
    sum += later.sum
    minimum = Swift.min(minimum, later.minimum)
    maximum = Swift.max(maximum, later.maximum)
  }
}
