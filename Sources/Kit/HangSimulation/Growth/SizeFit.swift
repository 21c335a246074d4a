/// How work depends on a size: a line through the medians of groups of measurements of similar size.
///
/// The slope is the median of the slopes between all pairs of groups (H. Theil 1950; P. K. Sen, "Estimates of the
/// regression coefficient based on Kendall's tau", Journal of the American Statistical Association 63, 1968), which a
/// quarter of the groups can be wrong without moving far. Kendall's tau of the groups says how consistently work rises.
struct SizeFit: Sendable {
  /// At most this many groups; more sizes share them evenly.
  private static let groups = 16
  /// With fewer sizes than that, a step that came at the same time looks like growth.
  private static let fewest = 4

  let order: GrowthFinding.Order
  /// The smallest and the largest size.
  let sizes: ClosedRange<Int>
  /// From -1, work falls with each larger size, to 1, it rises.
  let tau: Double
  /// The median distance of all measurements from the line, in nanoseconds.
  let residual: Double
  private let slope: Double
  private let intercept: Double

  /// The work at a size, in nanoseconds.
  func work(at size: Int) -> Double { intercept + slope * Self.scale(Double(size), order) }

  /// How much more work the largest size is than the smallest, in nanoseconds.
  var span: Double { slope * (Self.scale(Double(sizes.upperBound), order) - scaledLeast) }

  private var scaledLeast: Double { Self.scale(Double(sizes.lowerBound), order) }

  /// Nanoseconds for each element, on average over the sizes.
  var perElement: Double { span / Double(sizes.count - 1) }

  /// How consistently the work rises with the size, less what the size does not explain; from 0 to 1.
  var confidence: Double { max(0, tau) * max(0, 1 - residual / max(span, 1)) }

  /// The line of the shape that explains the measurements best; `nil` if there are too few different sizes.
  static func best(_ sizes: [Int], _ work: [Double]) -> SizeFit? {
    let points = zip(sizes, work).sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    let groups = grouped(points)
    guard groups.count >= fewest else { return nil }
    var best = SizeFit(points, groups, .linear)
    for order in [GrowthFinding.Order.linearithmic, .quadratic] {
      let other = SizeFit(points, groups, order)
      // A line is enough unless another shape explains clearly more.
      if other.residual < 0.7 * best.residual { best = other }
    }
    return best
  }

  private init(
    _ points: [(size: Int, work: Double)], _ groups: [(size: Double, work: Double)],
    _ order: GrowthFinding.Order
  ) {
    self.order = order
    sizes = points[0].size...points[points.count - 1].size
    let scaled = groups.map { (size: Self.scale($0.size, order), work: $0.work) }
    var slopes: [Double] = []
    var balance = 0
    for (index, left) in scaled.enumerated() {
      for right in scaled[(index + 1)...] {
        slopes.append((right.work - left.work) / (right.size - left.size))
        balance += right.work > left.work ? 1 : right.work < left.work ? -1 : 0
      }
    }
    tau = Double(balance) / Double(slopes.count)
    let slope = slopes.sorted().quantile(0.5)
    let intercept = scaled.map { $0.work - slope * $0.size }.sorted().quantile(0.5)
    residual = points.map { abs($0.work - intercept - slope * Self.scale(Double($0.size), order)) }
      .sorted().quantile(0.5)
    self.slope = slope
    self.intercept = intercept
  }

  private static func scale(_ size: Double, _ order: GrowthFinding.Order) -> Double {
    switch order {
    case .linear: size
    case .linearithmic: size * logarithm(max(size, 1))
    case .quadratic: size * size
    }
  }

  /// To the base of two, straight between powers of two: exact enough for the shape of a sort.
  private static func logarithm(_ number: Double) -> Double {
    Double(number.exponent) + number.significand - 1
  }

  /// The mean size and median work of neighbours in the order of their size. Equal sizes share a group.
  private static func grouped(
    _ points: [(size: Int, work: Double)]
  ) -> [(size: Double, work: Double)] {
    var result: [(size: Double, work: Double)] = []
    var start = 0
    while start < points.count {
      var end = min(points.count, start + (points.count + groups - 1) / groups)
      while end < points.count, points[end].size == points[end - 1].size { end += 1 }
      let group = points[start..<end]
      result.append(
        (
          Double(group.reduce(0) { $0 + $1.size }) / Double(group.count),
          group.map(\.work).sorted().quantile(0.5)
        ))
      start = end
    }
    return result
  }
}
