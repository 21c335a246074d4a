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
  private(set) var misspelled: [(name: String, near: String)] = []
  private let names: Names
  /// Whether a collection of the state that explains the work would have been found.
  let seesState: Bool
  /// The frames of Android's FrameTimeline in each trace that has it.
  package private(set) var frames: [MeasuredTrace.Frames] = []

  /// With fewer there is nothing to hold out.
  static let fewest = 10

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

  /// - Parameters:
  ///   - found: in nanoseconds, each without what is within it.
  ///   - seesState: whether the sizes of all collections were seen, so that those that explain nothing are left out.
  /// - Throws: ``CalibrationProblem`` if nothing was measured often enough.
  package init(
    _ found: [CostMeasurement], _ names: Names, seesState: Bool = false
  ) throws(CalibrationProblem) {
    (self.names, self.seesState) = (names, seesState)
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
      if let measurements = measurements(view) { items += Self.fit([measurements], areViews: true) }
    }
    // An element costs the same in all kinds of actions, which are therefore fitted together.
    items += Self.fit(names.actions.compactMap(measurements), areViews: false)
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
