extension Calibration {
  /// Fits costs to the measurements of a view, or of all kinds of actions together. `kinds`
  /// contains the measurements of each kind.
  static func fit(_ kinds: [[CostMeasurement]], areViews: Bool) -> [Item] {
    let all = kinds.joined()
    // An input that never varies within a kind cannot be distinguished from the base cost.
    let variesElements = kinds.contains { Set($0.map(\.elements)).count > 1 }
    let variesAppearance = areViews && Set(all.map(\.isFirst)).count > 1
    let (element, appearance) = (kinds.count, kinds.count + (variesElements ? 1 : 0))
    var columns = appearance + (variesAppearance ? 1 : 0)
    let fields = kinds.map { measurements in
      varyingFields(measurements).map { path in
        columns += 1
        return (path: path, column: columns - 1)
      }
    }
    func row(_ measurement: CostMeasurement, _ kind: Int) -> RobustFit.Row {
      var costs: [(column: Int, times: Double)] = [(kind, 1)]
      if variesElements { costs.append((element, Double(measurement.elements))) }
      if variesAppearance, measurement.isFirst { costs.append((appearance, 1)) }
      for field in fields[kind] {
        costs.append((field.column, Double(measurement.sizes[field.path] ?? 0)))
      }
      return RobustFit.Row(costs: costs, value: measurement.duration, group: kind)
    }
    var rows: [RobustFit.Row] = []
    var held: [RobustFit.Row] = []
    for (kind, measurements) in kinds.enumerated() {
      // First evaluations are too rare to be held out.
      var number = 0
      for measurement in measurements {
        if !measurement.isFirst { number += 1 }
        if !measurement.isFirst, number.isMultiple(of: 5) {
          held.append(row(measurement, kind))
        } else {
          rows.append(row(measurement, kind))
        }
      }
    }
    let fit = RobustFit(rows, columns: columns)
    func cost(_ column: Int) -> Int64 { Int64(fit.costs[column].rounded()) }
    return kinds.enumerated().map { kind, measurements in
      let errors = held.filter { $0.group == kind }.map { row in
        abs(row.residue(fit.costs)) / max(row.expected(fit.costs), 1)
      }.sorted()
      return Item(
        name: measurements[0].name, isView: areViews, base: cost(kind),
        element: variesElements ? cost(element) : nil,
        appearance: variesAppearance ? cost(appearance) : nil,
        fields: Dictionary(uniqueKeysWithValues: fields[kind].map { ($0.path, cost($0.column)) }),
        rise: rise(rows.filter { $0.group == kind }, fit.costs, base: fit.costs[kind]),
        count: rows.count { $0.group == kind },
        outliers: zip(rows, fit.isOutlier).count { $0.group == kind && $1 },
        error: (errors.quantile(0.5), errors.quantile(0.75)))
    }
  }

  /// Returns the paths of collections whose sizes vary and are in all measurements of a kind.
  private static func varyingFields(_ measurements: [CostMeasurement]) -> [String] {
    let paths = measurements.dropFirst().reduce(Set(measurements[0].sizes.keys)) {
      $0.intersection($1.sizes.keys)
    }
    return paths.filter { path in
      measurements.contains { $0.sizes[path] != measurements[0].sizes[path] }
    }.sorted()
  }

  /// Returns how the residuals rise from the start of the recording to its end, if they rise by at
  /// least half; otherwise `nil`.
  private static func rise(
    _ rows: [RobustFit.Row], _ costs: [Double], base: Double
  ) -> (from: Int64, to: Int64)? {
    let left = rows.map { $0.residue(costs) + base }
    guard let fit = SizeFit.best(Array(left.indices), left) else { return nil }
    let (from, to) = (
      fit.work(at: fit.sizes.lowerBound), fit.work(at: fit.sizes.upperBound)
    )
    guard fit.tau >= 0.8, fit.confidence >= 0.5, from > 0, to >= 1.5 * from else { return nil }
    return (Int64(from.rounded()), Int64(to.rounded()))
  }
}
