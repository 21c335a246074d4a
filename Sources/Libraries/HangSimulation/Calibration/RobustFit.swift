/// A robust fit of non-negative costs to measurements.
///
/// The fit starts with least absolute deviations, on which interrupted measurements have little
/// influence. The fit then estimates the scale of the relative residuals (residual divided by cost)
/// of each group from their median absolute deviation. With this scale, Tukey's biweight gives no
/// weight to measurements that deviate by more than 4.685 scales.
///
/// Both steps use iteratively reweighted least squares: Holland and Welsch, "Robust regression
/// using iteratively reweighted least-squares", Communications in Statistics A6 (1977). Each
/// iteration is solved without negative costs by the active set method of Lawson and Hanson,
/// "Solving Least Squares Problems" (1974), chapter 23.
struct RobustFit {
  /// A measured duration, and the costs that add up to it, each multiplied by a known factor.
  struct Row {
    var costs: [(column: Int, times: Double)]
    var value: Double
    /// The group. Rows of one group have similar relative errors.
    var group: Int
  }

  private static let steps = 60
  /// The number of scales beyond which a measurement is an outlier. With normally distributed
  /// errors, the fit is 95 % as efficient as plain least squares.
  private static let tuning = 4.685
  /// The ratio of a normal distribution's standard deviation to its median absolute deviation.
  private static let normal = 1.4826
  /// The smallest relative residual, so that an exact fit does not give a row infinite weight.
  private static let least = 1e-4

  /// The cost of each column.
  private(set) var costs: [Double]
  /// For each row, whether it was excluded as an outlier.
  private(set) var isOutlier: [Bool]

  init(_ rows: [Row], columns: Int) {
    costs = Self.solve(rows, Array(repeating: 1, count: rows.count), columns)
    isOutlier = Array(repeating: false, count: rows.count)
    guard !rows.isEmpty else { return }
    for _ in 0..<Self.steps {
      let costs = costs
      let weights = rows.map { 1 / max(abs($0.residue(costs)), max($0.value, 1) * Self.least) }
      self.costs = Self.solve(rows, weights, columns)
    }
    let scales = scales(rows)
    for _ in 0..<Self.steps {
      let costs = costs
      let weights = zip(rows, scales).map { row, scale in
        let distance = row.residue(costs) / (Self.tuning * scale)
        let weight = max(0, 1 - distance * distance)
        return weight * weight / (scale * scale)
      }
      isOutlier = weights.map { $0 == 0 }
      self.costs = Self.solve(rows, weights, columns)
    }
  }

  /// Returns the expected deviation of each row. Long durations vary more than short ones, so the
  /// deviation of a group is relative to the expected duration.
  private func scales(_ rows: [Row]) -> [Double] {
    let expected = rows.map { max($0.expected(costs), 1) }
    var shares: [Int: [Double]] = [:]
    for (row, expected) in zip(rows, expected) {
      shares[row.group, default: []].append(abs(row.residue(costs)) / expected)
    }
    let deviations = shares.mapValues { max(Self.normal * $0.sorted().quantile(0.5), Self.least) }
    return zip(rows, expected).map { (deviations[$0.group] ?? Self.least) * $1 }
  }

  // MARK: Least squares without negative costs

  private static func solve(_ rows: [Row], _ weights: [Double], _ columns: Int) -> [Double] {
    var products = Array(repeating: Array(repeating: 0.0, count: columns), count: columns)
    var values = Array(repeating: 0.0, count: columns)
    for (row, weight) in zip(rows, weights) where weight > 0 {
      for (column, times) in row.costs {
        values[column] += weight * times * row.value
        for other in row.costs { products[column][other.column] += weight * times * other.times }
      }
    }
    return nonNegative(products, values)
  }

  private static func nonNegative(_ products: [[Double]], _ values: [Double]) -> [Double] {
    var solution = values.map { _ in 0.0 }
    var free: [Int] = []
    var refused: Set<Int> = []
    while true {
      // The gradient, scaled to be independent of the column.
      let gains = values.indices.map { column -> Double in
        guard !free.contains(column), !refused.contains(column), products[column][column] > 0 else {
          return 0
        }
        let explained = zip(products[column], solution).reduce(0) { $0 + $1.0 * $1.1 }
        let gain = values[column] - explained
        return gain > 1e-9 * values[column] ? gain / products[column][column].squareRoot() : 0
      }
      guard let best = gains.indices.max(by: { gains[$0] < gains[$1] }), gains[best] > 0 else {
        return solution
      }
      free.append(best)
      while !free.isEmpty {
        guard let found = cholesky(products, values, free) else {
          // The column is linearly dependent on the others.
          free.removeLast()
          refused.insert(best)
          break
        }
        /// Returns how far the solution may move towards `found` before this cost becomes negative.
        func room(_ pair: (column: Int, value: Double)) -> Double {
          solution[pair.column] / (solution[pair.column] - pair.value)
        }
        let first = zip(free, found).filter { $1 <= 0 }.min { room($0) < room($1) }
        let step = first.map(room) ?? 1
        for (column, value) in zip(free, found) {
          solution[column] += step * (value - solution[column])
        }
        guard let first else { break }
        // Only a rounding error can make the newly added column negative.
        if first.0 == best { refused.insert(best) }
        solution[first.0] = 0
        free.removeAll { solution[$0] <= 0 }
      }
    }
  }

  /// Solves the equations of these columns; `nil` if the columns are linearly dependent.
  private static func cholesky(
    _ products: [[Double]], _ values: [Double], _ columns: [Int]
  ) -> [Double]? {
    let count = columns.count
    var lower = Array(repeating: Array(repeating: 0.0, count: count), count: count)
    var result = columns.map { values[$0] }
    for row in 0..<count {
      for column in 0...row {
        var sum = products[columns[row]][columns[column]]
        for inner in 0..<column { sum -= lower[row][inner] * lower[column][inner] }
        if row == column {
          guard sum > 1e-10 * products[columns[row]][columns[row]] else { return nil }
          lower[row][row] = sum.squareRoot()
        } else {
          lower[row][column] = sum / lower[column][column]
        }
      }
      for inner in 0..<row { result[row] -= lower[row][inner] * result[inner] }
      result[row] /= lower[row][row]
    }
    for row in (0..<count).reversed() {
      for inner in (row + 1)..<max(row + 1, count) {
        result[row] -= lower[inner][row] * result[inner]
      }
      result[row] /= lower[row][row]
    }
    return result
  }
}

extension RobustFit.Row {
  func expected(_ costs: [Double]) -> Double {
    self.costs.reduce(0) { $0 + costs[$1.column] * $1.times }
  }

  /// Returns the part of the duration that the costs do not explain.
  func residue(_ costs: [Double]) -> Double { value - expected(costs) }
}

extension [Double] {
  /// Returns a quantile of sorted numbers; 0 if there are none.
  func quantile(_ share: Double) -> Double {
    isEmpty ? 0 : self[Swift.min(count - 1, Int(share * Double(count)))]
  }
}
