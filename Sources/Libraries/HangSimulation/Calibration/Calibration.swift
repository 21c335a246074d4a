import ViewGraph
import Wording

/// The costs of views and actions on a real device, fitted to measurements, with the prediction
/// errors for measurements that were held out.
package struct Calibration: Sendable {
  /// The names of a screen's views and kinds of actions.
  package struct Names: Sendable {
    package var views: [String]
    package var actions: [String]

    package init(views: [String], actions: [String]) {
      self.views = views
      self.actions = actions
    }
  }

  /// The fitted costs of a view or action kind. Costs are in nanoseconds.
  package struct Item: Sendable {
    package var name: String
    package var isView: Bool
    /// The cost of an evaluation or reduction.
    package var base: Int64
    /// The cost per element, which is the same for all kinds of actions; `nil` if the measurements
    /// do not determine it.
    package var element: Int64?
    /// The cost of an appearance; `nil` if the measurements do not determine it.
    package var appearance: Int64?
    /// The cost per element of a collection in the state, by path, if its size varied.
    package var fields: [String: Int64] = [:]
    /// An unexplained rise of the duration over the recording; `nil` if there is none.
    package var rise: (from: Int64, to: Int64)?
    /// The number of measurements to which the costs were fitted.
    package var count: Int
    /// The number of measurements that were excluded as outliers.
    package var outliers: Int
    /// The median and the third quartile of the prediction errors of held-out measurements,
    /// relative to the prediction.
    package var error: (half: Double, threeQuarters: Double)
  }

  /// The fitted costs, in the order of the screen's names.
  package private(set) var items: [Item] = []
  /// The names of the screen with too few measurements, or none.
  package private(set) var missing: [String] = []
  /// The names in the traces that are probably misspellings of ``missing``.
  private(set) var misspelled: [(name: String, near: String)] = []
  private let names: Names
  /// Whether all collections of the state were observed, so that none of them explains a rise.
  let observesState: Bool
  /// The frames of Android's FrameTimeline, for each trace that contains them.
  package private(set) var frames: [MeasuredTrace.Frames] = []

  /// The minimum number of measurements for a fit, so that enough measurements can be held out.
  static let minimumMeasurements = 10

  /// - Throws: ``CalibrationProblem`` if the measurements do not match the screen.
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

  /// Fits costs to measurements in nanoseconds, each excluding nested measurements.
  /// `observesState` is true if the sizes of all collections were observed and irrelevant sizes are
  /// already excluded.
  ///
  /// - Throws: ``CalibrationProblem`` if nothing was measured often enough.
  package init(
    _ found: [CostMeasurement], _ names: Names, observesState: Bool = false
  ) throws(CalibrationProblem) {
    (self.names, self.observesState) = (names, observesState)
    let known = Set(names.views + names.actions)
    let byName = Dictionary(grouping: found, by: \.name)
    missing = (names.views + names.actions).filter {
      byName[$0]?.count ?? 0 < Self.minimumMeasurements
    }
    guard missing.count < known.count else {
      throw CalibrationProblem(
        "no view or action was measured at least \(Self.minimumMeasurements) times")
    }
    func measurements(_ name: String) -> [CostMeasurement]? {
      missing.contains(name) ? nil : byName[name]
    }
    for view in names.views {
      if let measurements = measurements(view) { items += Self.fit([measurements], areViews: true) }
    }
    // An element costs the same in all kinds of actions, so all kinds are fitted together.
    items += Self.fit(names.actions.compactMap(measurements), areViews: false)
  }

  // MARK: What does not fit

  private static func nothingKnown(
    _ traces: [MeasuredTrace], _ names: Names
  ) -> CalibrationProblem {
    let found = Array(Set(traces.flatMap(\.names))).sorted()
    let known = names.views + names.actions
    let near = found.lazy.compactMap { name in
      Spelling.nearest(to: name, among: known).map { "; '\(name)' is similar to '\($0)'" }
    }.first
    return CalibrationProblem(
      "none of \(found.count) names is a view or action of the screen, "
        + "such as '\(known.first ?? "")'"
        + (near ?? ", but for example '\(found.first ?? "")'"))
  }

  /// Checks the unit: a median of seconds, or of less than 100 ns, indicates another unit.
  private static func checkUnits(
    _ measurements: [CostMeasurement]
  ) throws(CalibrationProblem) {
    let middle = measurements.map(\.duration).sorted().quantile(0.5)
    guard (100...1e10).contains(middle) else {
      let isLong = middle > 1e9
      let text = isLong ? "\(Int64(min(middle / 1e9, 1e15))) s" : "\(Int64(middle)) ns"
      throw CalibrationProblem(
        "the median measurement is \(text), which is too \(isLong ? "long" : "short") "
          + "for a screen; trace events must be in microseconds")
    }
  }

  // MARK: Result

  /// The names of the measured constants; see `DeviceProfile.Costs.measured`.
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

  /// The number of measured constants of the screen, and the number of all its constants.
  package var constants: (measured: Int, all: Int) {
    let all = DeviceProfile.Costs.constants(views: names.views, actions: names.actions)
    return (measured.count, all.count)
  }

  /// Returns the profile, with measured costs in place of its own costs where they are available. A
  /// profile contains costs on a reference device, so measured costs are divided by the profile's
  /// slowdown.
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
}

extension SimulationPlan {
  /// Returns the names of the screen, from a run of the first variant on the first device.
  package func names() throws -> Calibration.Names {
    guard let screen = try finalScreen(), let variant = variants.first else {
      return Calibration.Names(views: [], actions: [])
    }
    let others = screen.views.statistics.keys.filter { !variant.views.contains($0) }
    return Calibration.Names(
      views: variant.views + others.sorted(), actions: ActionKinds(screen.actions).names)
  }
}
