/// The dependence of work on a size: a line through the medians of groups of measurements with
/// similar sizes.
///
/// The slope is the median of the slopes between all pairs of groups (H. Theil 1950; P. K. Sen,
/// "Estimates of the regression coefficient based on Kendall's tau", Journal of the American
/// Statistical Association 63, 1968). A quarter of the groups can be wrong without a large effect
/// on the slope. Kendall's tau of the groups measures how consistently the work rises.
struct SizeFit: Sendable {
  /// The maximum number of groups. Further sizes are distributed evenly over the groups.
  private static let groups = 16
  /// The minimum number of different sizes. With fewer sizes, an unrelated step at the same time
  /// looks like growth.
  private static let fewest = 4

  let order: GrowthFinding.Order
  /// The range of the sizes.
  let sizes: ClosedRange<Int>
  /// Kendall's tau: from -1 (work falls with each larger size) to 1 (it rises).
  let tau: Double
  /// The median distance of all measurements from the line, in nanoseconds.
  let residual: Double
  private let slope: Double
  private let intercept: Double

  /// Returns the work at a size, in nanoseconds.
  func work(at size: Int) -> Double { intercept + slope * Self.scale(Double(size), order) }

  /// The difference of the work between the largest and the smallest size, in nanoseconds.
  var span: Double { slope * (Self.scale(Double(sizes.upperBound), order) - scaledLeast) }

  private var scaledLeast: Double { Self.scale(Double(sizes.lowerBound), order) }

  /// The average work per element over the sizes, in nanoseconds.
  var perElement: Double { span / Double(sizes.count - 1) }

  /// The confidence from 0 to 1: how consistently the work rises with the size, reduced by the part
  /// that the size does not explain.
  var confidence: Double { max(0, tau) * max(0, 1 - residual / max(span, 1)) }

  /// Returns the fit of the order that explains the measurements best; `nil` if there are too few
  /// different sizes.
  static func best(_ sizes: [Int], _ work: [Double]) -> SizeFit? {
    let points = zip(sizes, work).sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    let groups = grouped(points)
    guard groups.count >= fewest else { return nil }
    var best = SizeFit(points, groups, .linear)
    for order in [GrowthFinding.Order.linearithmic, .quadratic] {
      let other = SizeFit(points, groups, order)
      // A linear fit is preferred unless another order is clearly better.
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

  /// Returns the binary logarithm, interpolated linearly between powers of two, which is precise
  /// enough for the shape of a sort.
  private static func logarithm(_ number: Double) -> Double {
    Double(number.exponent) + number.significand - 1
  }

  /// Returns the mean size and median work of measurements with neighbouring sizes. Equal sizes
  /// share a group.
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
