/// A value over the last ten minutes, one sample per five seconds.
///
/// Contains only the samples to be shown; a ``HistorySampler`` produces them. Encoded as one
/// string, so that a snapshot of a room contains one value instead of a hundred.
public struct History: Hashable, Sendable {
  /// The maximum number of samples.
  public static let limit = 120

  /// The samples, oldest first; at most ``limit``.
  public private(set) var samples: [Float] = []

  public init() {}

  /// Returns this history with a sample for `count` spans appended, and without old samples.
  fileprivate func appending(_ sample: Float, count: Int) -> History {
    var next = self
    next.samples += repeatElement(sample, count: max(0, min(count, Self.limit)))
    next.samples.removeFirst(max(0, next.samples.count - Self.limit))
    return next
  }
}

extension History: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parts = try container.decode(String.self).split(separator: " ")
    samples = parts.compactMap { Float($0) }.filter(\.isFinite)
    guard samples.count == parts.count, samples.count <= Self.limit else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not a list of at most \(Self.limit) numbers")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(samples.map(\.description).joined(separator: " "))
  }
}

/// Produces the samples of a ``History``: the mean of the values within each span of five seconds.
///
/// The caller passes the time, in milliseconds. A span without values repeats the previous sample.
/// A value that is less than one span older than the current span counts as current. An even older
/// value means that the clock was set back, and counting restarts at its span.
public struct HistorySampler: Hashable, Sendable, Codable {
  /// The length of a span in milliseconds.
  public static let span: Int64 = 5_000

  private var current: Int64?
  private var sum = 0.0
  private var count = 0

  public init() {}

  private enum CodingKeys: CodingKey { case current, sum, count }

  /// - Throws: `DecodingError.dataCorrupted` if another value could not be added without overflow.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    current = try values.decodeIfPresent(Int64.self, forKey: .current)
    sum = try values.decode(Double.self, forKey: .sum)
    count = try values.decode(Int.self, forKey: .count)
    guard (current ?? 0).magnitude <= 1 << 53, (0...1 << 53).contains(count) else {
      throw DecodingError.dataCorruptedError(
        forKey: .current, in: values, debugDescription: "the span or its count is out of range")
    }
  }

  /// Adds a value at a time.
  ///
  /// - Returns: `history`, with a new sample appended if a span has ended.
  /// - Complexity: O(1), and O(``History/limit``) once per span.
  public mutating func add(
    _ value: Double, at milliseconds: Int64, to history: History?
  ) -> History? {
    guard value.isFinite else { return history }
    let span = milliseconds.flooringDivision(by: Self.span)
    guard let current, span >= current - 1 else {
      begin(span, with: value)
      return history
    }
    guard span > current else {
      sum += value
      count += 1
      return history
    }
    let mean = Float((sum / Double(count) * 10).rounded() / 10)
    let (distance, overflow) = span.subtractingReportingOverflow(current)
    begin(span, with: value)
    guard mean.isFinite else { return history }
    let spans = overflow ? History.limit : Int(min(distance, Int64(History.limit)))
    return (history ?? History()).appending(mean, count: spans)
  }

  private mutating func begin(_ span: Int64, with value: Double) {
    current = span
    sum = value
    count = 1
  }
}

extension Int64 {
  fileprivate func flooringDivision(by divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : (self + 1) / divisor - 1
  }
}
