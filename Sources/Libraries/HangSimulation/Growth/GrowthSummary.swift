/// Collects the growth found in the runs of a plan.
struct GrowthSummary {
  /// The number of repetitions of a run with uncertain findings.
  static let repeats = 2

  private struct Item {
    var variant: String
    var found: GrowthSearch.Found

    /// Whether both are the same growth. Another device may name a collection that grows together
    /// with this one.
    func isSame(as other: GrowthSearch.Found, _ variant: String) -> Bool {
      self.variant == variant && found.kind == other.kind && found.name == other.name
        && !Set(found.fields).isDisjoint(with: other.fields)
    }
  }

  private struct Run {
    var device: Device
    var variant: String
    var table: WorkTable
    var holds: [EffectMeter.Holds]
  }

  private var items: [Item] = []
  private var runs: [Run] = []

  /// Returns whether repeating a run could help, because a finding might be caused by load on the
  /// machine.
  func isUncertain(_ found: [GrowthSearch.Found], _ device: Device, variant: String) -> Bool {
    found.contains { found in
      !found.isCertain && !isCharged(found, on: device)
        && !items.contains { $0.isSame(as: found, variant) }
    }
  }

  /// Returns whether the costs of the device already include the work.
  private func isCharged(_ found: GrowthSearch.Found, on device: Device) -> Bool {
    guard found.fields[0] == GrowthFinding.elements else { return false }
    let costs = device.profile.costs
    let charged =
      found.kind == .view ? (costs.views[found.name] ?? costs.view).element : costs.element
    return found.fit.perElement <= Double(charged)
  }

  /// Adds the findings of a run, except work that the device's costs already include.
  mutating func add(
    _ found: [GrowthSearch.Found], _ table: WorkTable, _ holds: [EffectMeter.Holds],
    _ device: Device, variant: String
  ) {
    var table = table
    // Only the sizes are needed later.
    table.targets = []
    runs.append(Run(device: device, variant: variant, table: table, holds: holds))
    for found in found where !isCharged(found, on: device) {
      if let known = items.firstIndex(where: { $0.isSame(as: found, variant) }) {
        if items[known].found.fit.confidence < found.fit.confidence { items[known].found = found }
      } else {
        items.append(Item(variant: variant, found: found))
      }
    }
  }

  /// The findings, costliest first.
  var findings: [GrowthFinding] {
    items.map(finding).sorted { left, right in
      (left.projected.map(\.work).max() ?? .zero) > (right.projected.map(\.work).max() ?? .zero)
    }
  }

  private func finding(_ item: Item) -> GrowthFinding {
    let (found, fit) = (item.found, item.found.fit)
    let runs = runs.filter { $0.variant == item.variant }
    let isElements = found.fields[0] == GrowthFinding.elements
    return GrowthFinding(
      variant: item.variant, kind: found.kind, name: found.name, field: found.fields[0],
      together: Array(found.fields.dropFirst()), order: fit.order,
      perElement: .nanoseconds(Int64(fit.perElement.rounded())),
      confidence: fit.confidence, sizes: fit.sizes,
      projected: runs.map { run in
        let size = isElements ? fit.sizes.upperBound : run.table.largest(found.fields[0])
        let work = fit.work(at: size) * Double(run.device.slowdown) / 1_000_000
        return GrowthFinding.Projection(
          device: run.device.name, size: size, work: .nanoseconds(Int64(max(0, min(work, 1e18)))))
      })
  }

  /// Half a frame at 60 Hz, in nanoseconds. A hold of this length probably makes the frame late,
  /// because the frame also needs time for its own work.
  private static let longHold = 8_000_000.0

  /// The lane holds, longest first.
  var laneHolds: [LaneHold] {
    var holds: [LaneHold] = []
    for run in runs {
      for hold in run.holds {
        let scaled = Double(hold.longest) * Double(run.device.slowdown) / 1_000_000
        guard scaled >= Self.longHold else { continue }
        let found = LaneHold(
          variant: run.variant, effect: hold.effect, count: hold.count,
          longest: .nanoseconds(hold.longest), device: run.device.name,
          longestOnDevice: .nanoseconds(Int64(min(scaled, 1e18))))
        if let known = holds.firstIndex(where: {
          $0.variant == found.variant && $0.effect == found.effect
        }) {
          if holds[known].longestOnDevice < found.longestOnDevice { holds[known] = found }
        } else {
          holds.append(found)
        }
      }
    }
    return holds.sorted { $0.longestOnDevice > $1.longestOnDevice }
  }
}
