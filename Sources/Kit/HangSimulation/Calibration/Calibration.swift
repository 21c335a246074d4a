import JSON
import Suggestions
import ViewGraph

/// What views and actions cost on a real device, fitted to measurements, and how well that predicts measurements
/// that it did not see.
package struct Calibration: Sendable {
  /// The names of a screen.
  package struct Names: Sendable {
    package var views: [String]
    package var actions: [String]

    package init(views: [String], actions: [String]) {
      self.views = views
      self.actions = actions
    }
  }

  /// What was found of one view or kind of action.
  package struct Item: Sendable {
    package var name: String
    package var isView: Bool
    /// Nanoseconds.
    package var base: Int64
    /// For each element; `nil` if the measurements do not tell. Of actions, all have the same.
    package var element: Int64?
    /// `nil` if the measurements do not tell.
    package var appearance: Int64?
    /// For each element of a collection of the state, by the paths of those whose sizes varied.
    package var fields: [String: Int64] = [:]
    /// What the measurements rise to over the recording without anything that explains it; `nil` if they do not rise.
    package var rise: (from: Int64, to: Int64)?
    /// How many measurements the costs were fitted to.
    package var count: Int
    /// How many of these were left out as outliers.
    package var outliers: Int
    /// How far the others, which were held out, are from what the costs predict, as shares of that: half of them not
    /// further than the first number, three quarters not further than the second.
    package var error: (half: Double, threeQuarters: Double)
  }

  /// In the order of the screen's names.
  package private(set) var items: [Item] = []
  /// Names of the screen with too few measurements, or none.
  package private(set) var missing: [String] = []
  /// Names in the traces that are probably misspelled ones of ``missing``.
  private var misspelled: [(name: String, near: String)] = []
  private let names: Names
  /// The frames of Android's FrameTimeline in each trace that has it.
  package private(set) var frames: [MeasuredTrace.Frames] = []

  /// This many names are listed in the report for people.
  private static let listed = 12
  /// With fewer there is nothing to hold out.
  private static let fewest = 10

  /// - Throws: ``CalibrationProblem`` if the measurements do not fit the screen.
  package init(_ traces: [MeasuredTrace], _ names: Names) throws(CalibrationProblem) {
    let known = Set(names.views + names.actions)
    let found = traces.flatMap { $0.measurements(named: known) }
    guard !found.isEmpty else { throw Self.nothingKnown(traces, names) }
    try Self.checkUnits(found)
    try self.init(found, names)
    frames = traces.compactMap(\.frames)
    misspelled = Set(traces.flatMap(\.names)).subtracting(known).sorted().compactMap { name in
      Spelling.misspelled(name, among: missing).map { (name, $0) }
    }
  }

  /// - Parameter found: in nanoseconds, each without what is within it.
  /// - Throws: ``CalibrationProblem`` if nothing was measured often enough.
  package init(_ found: [CostMeasurement], _ names: Names) throws(CalibrationProblem) {
    self.names = names
    let known = Set(names.views + names.actions)
    let byName = Dictionary(grouping: found, by: \.name)
    missing = (names.views + names.actions).filter { byName[$0]?.count ?? 0 < Self.fewest }
    guard missing.count < known.count else {
      throw CalibrationProblem("no view or action was measured \(Self.fewest) times or more")
    }
    func measurements(_ name: String) -> [CostMeasurement]? {
      missing.contains(name) ? nil : byName[name]
    }
    for view in names.views {
      if let measurements = measurements(view) { fit([measurements], areViews: true) }
    }
    // An element costs the same in all kinds of actions, which are therefore fitted together.
    fit(names.actions.compactMap(measurements), areViews: false)
  }

  private mutating func fit(_ kinds: [[CostMeasurement]], areViews: Bool) {
    let all = kinds.joined()
    // What is the same in all measurements of a kind cannot be told from its base.
    let tellsElements = kinds.contains { Set($0.map(\.elements)).count > 1 }
    let tellsAppearance = areViews && Set(all.map(\.isFirst)).count > 1
    let (element, appearance) = (kinds.count, kinds.count + (tellsElements ? 1 : 0))
    var columns = appearance + (tellsAppearance ? 1 : 0)
    let fields = kinds.map { measurements in
      Self.varyingFields(measurements).map { path in
        columns += 1
        return (path: path, column: columns - 1)
      }
    }
    func row(_ measurement: CostMeasurement, _ kind: Int) -> RobustFit.Row {
      var costs: [(column: Int, times: Double)] = [(kind, 1)]
      if tellsElements { costs.append((element, Double(measurement.elements))) }
      if tellsAppearance, measurement.isFirst { costs.append((appearance, 1)) }
      for field in fields[kind] {
        costs.append((field.column, Double(measurement.sizes[field.path] ?? 0)))
      }
      return RobustFit.Row(costs: costs, value: measurement.duration, group: kind)
    }
    var rows: [RobustFit.Row] = []
    var held: [RobustFit.Row] = []
    for (kind, measurements) in kinds.enumerated() {
      // Those of a first evaluation are too rare to be held out.
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
    for (kind, measurements) in kinds.enumerated() {
      let errors = held.filter { $0.group == kind }.map { row in
        abs(row.residue(fit.costs)) / max(row.expected(fit.costs), 1)
      }.sorted()
      items.append(
        Item(
          name: measurements[0].name, isView: areViews, base: cost(kind),
          element: tellsElements ? cost(element) : nil,
          appearance: tellsAppearance ? cost(appearance) : nil,
          fields: Dictionary(uniqueKeysWithValues: fields[kind].map { ($0.path, cost($0.column)) }),
          rise: Self.rise(rows.filter { $0.group == kind }, fit.costs, base: fit.costs[kind]),
          count: rows.count { $0.group == kind },
          outliers: zip(rows, fit.isOutlier).count { $0.group == kind && $1 },
          error: (errors.quantile(0.5), errors.quantile(0.75))))
    }
  }

  /// Paths of the collections whose sizes were recorded with all measurements of a kind and are not always the same.
  private static func varyingFields(_ measurements: [CostMeasurement]) -> [String] {
    let paths = measurements.dropFirst().reduce(Set(measurements[0].sizes.keys)) {
      $0.intersection($1.sizes.keys)
    }
    return paths.filter { path in
      measurements.contains { $0.sizes[path] != measurements[0].sizes[path] }
    }.sorted()
  }

  /// Whether what the costs do not explain rises from the beginning of the recording to its end, by a half or more of what
  /// it was.
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

  // MARK: What does not fit

  private static func nothingKnown(
    _ traces: [MeasuredTrace], _ names: Names
  ) -> CalibrationProblem {
    let found = Array(Set(traces.flatMap(\.names))).sorted()
    let known = names.views + names.actions
    let near = found.lazy.compactMap { name in
      Spelling.nearest(to: name, among: known).map { "; '\(name)' is nearly '\($0)'" }
    }.first
    return CalibrationProblem(
      "none of \(found.count) names is that of a view or an action of the screen, such as '\(known.first ?? "")'"
        + (near ?? ", but for example '\(found.first ?? "")'"))
  }

  /// A view that takes seconds or less than a hundred nanoseconds was written in another unit.
  private static func checkUnits(
    _ measurements: [CostMeasurement]
  ) throws(CalibrationProblem) {
    let middle = measurements.map(\.duration).sorted().quantile(0.5)
    guard (100...1e10).contains(middle) else {
      throw CalibrationProblem(
        "half of the measurements take \(middle > 1e9 ? "\(Int64(min(middle / 1e9, 1e15))) s" : "\(Int64(middle)) ns") "
          + "or \(middle > 1e9 ? "longer" : "less"), which no screen does; trace events are in microseconds"
      )
    }
  }

  // MARK: Result

  /// The names of the constants that were measured; see `DeviceProfile.Costs.measured`.
  package var measured: Set<String> {
    var measured: Set<String> = []
    for item in items {
      guard item.isView else {
        measured.insert(item.name)
        if item.element != nil { measured.insert("element") }
        continue
      }
      measured.insert("\(item.name).evaluation")
      if item.element != nil { measured.insert("\(item.name).element") }
      if item.appearance != nil { measured.insert("\(item.name).appearance") }
    }
    return measured
  }

  /// How many constants of the screen were measured, and how many there are.
  package var constants: (measured: Int, all: Int) {
    let all = DeviceProfile.Costs.constants(views: names.views, actions: names.actions)
    return (measured.count, all.count)
  }

  /// Of this profile, what was measured is replaced.
  ///
  /// The costs of a profile are those of a reference device, so that what was measured is divided by how much slower
  /// than that the device is.
  package func applied(to profile: DeviceProfile) -> DeviceProfile {
    func scaled(_ cost: Int64) -> Int64 {
      Int64(clamping: Int128(cost) * 1_000_000 / Int128(max(1, profile.slowdown)))
    }
    var profile = profile
    profile.costs.measured = measured
    for item in items {
      if item.isView {
        var cost = profile.costs.views[item.name] ?? profile.costs.view
        cost.evaluation = scaled(item.base)
        if let element = item.element { cost.element = scaled(element) }
        if let appearance = item.appearance { cost.appearance = scaled(appearance) }
        cost.fields.merge(item.fields.mapValues(scaled)) { $1 }
        profile.costs.views[item.name] = cost
      } else {
        profile.costs.actions[item.name] = scaled(item.base)
        if !item.fields.isEmpty {
          profile.costs.actionFields[item.name] = item.fields.mapValues(scaled)
        }
        if let element = item.element { profile.costs.element = scaled(element) }
      }
    }
    return profile
  }

  /// The report for people.
  package var lines: [String] {
    func time(_ nanoseconds: Int64?) -> String {
      nanoseconds.map { "\(FixedPoint.milliseconds($0, decimals: 4)) ms" } ?? "assumed"
    }
    func share(_ share: Double) -> String {
      FixedPoint.text(Int64((min(share, 1e6) * 1_000).rounded()), decimals: 1) + " %"
    }
    let (measured, all) = constants
    var table = TextColumns()
    table.append(["", "base", "element", "appearance", "fitted to", "outliers", "half", "75 %"])
    for item in items {
      table.append([
        item.name, time(item.base), time(item.element), item.isView ? time(item.appearance) : "",
        "\(item.count)", "\(item.outliers)", share(item.error.half),
        share(item.error.threeQuarters),
      ])
    }
    var lines = ["\(measured) of \(all) constants measured, \(all - measured) assumed", ""]
    lines += table.lines(indent: 2)
    for item in items {
      for (path, cost) in item.fields.sorted(by: { $0.key < $1.key }) {
        lines.append("  \(item.name): \(time(cost)) more for each element of \(path)")
      }
    }
    lines += risingLines
    lines += [
      "",
      "'half' and '75 %' of the measurements that were held out, every fifth, are not further than this from "
        + "what the costs predict.",
    ]
    if !missing.isEmpty {
      let more = missing.count - Self.listed
      lines.append(
        "Measured fewer than \(Self.fewest) times, and so assumed: "
          + missing.prefix(Self.listed).joined(separator: ", ")
          + (more > 0 ? " and \(more) more, which JSON lists" : ""))
    }
    for (name, near) in misspelled.prefix(Self.listed) {
      lines.append("The screen has no '\(name)'; did you mean '\(near)'?")
    }
    lines += frames.map(\.line)
    return lines
  }

  /// Where no constant fits.
  private var risingLines: [String] {
    items.compactMap { item in
      item.rise.map { rise in
        let (from, to) = (
          FixedPoint.milliseconds(rise.from, decimals: 1),
          FixedPoint.milliseconds(rise.to, decimals: 1)
        )
        return
          "No constant fits \(item.name): it rises from \(from) to \(to) ms over the recording. If a collection of "
          + "the state grows meanwhile, record its size, as 'sizes' beside 'elements'."
      }
    }
  }

  /// The same as JSON on one line, times in nanoseconds.
  package var json: String {
    var json = JSONWriter()
    json.appendObject { json in
      json.add("measured", constants.measured)
      json.add("assumed", constants.all - constants.measured)
      json.addArray("costs") { json in
        for item in items {
          json.appendObject { json in
            json.add("name", item.name)
            json.add("kind", item.isView ? "view" : "action")
            json.add("base", Int(item.base))
            json.add("element", item.element.map { Int($0) })
            json.add("appearance", item.appearance.map { Int($0) })
            if !item.fields.isEmpty {
              json.addObject("per") { json in
                for (path, cost) in item.fields.sorted(by: { $0.key < $1.key }) {
                  json.name(text: path)
                  json.append(Int(cost))
                }
              }
            }
            if let rise = item.rise {
              json.addArray("rises") { json in
                json.append(Int(rise.from))
                json.append(Int(rise.to))
              }
            }
            json.add("measurements", item.count)
            json.add("outliers", item.outliers)
            json.add("medianError", item.error.half)
            json.add("error75", item.error.threeQuarters)
          }
        }
      }
      json.addArray("missing") { json in for name in missing { json.append(name) } }
      guard !frames.isEmpty else { return }
      json.addArray("frameTimelines") { json in
        for frames in frames {
          json.appendObject { json in
            json.add("frames", frames.count)
            json.add("janky", frames.janky)
            json.add("longest", frames.longest)
            json.add("refreshRate", frames.refreshRate)
          }
        }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension SimulationPlan {
  /// The names of its screen: of the views that a run of the first variant on the first device shows.
  package func names() throws -> Calibration.Names {
    guard let screen = try finalScreen(), let variant = variants.first else {
      return Calibration.Names(views: [], actions: [])
    }
    let others = screen.views.statistics.keys.filter { !variant.views.contains($0) }
    return Calibration.Names(
      views: variant.views + others.sorted(), actions: ActionKinds(screen.actions).names)
  }
}
