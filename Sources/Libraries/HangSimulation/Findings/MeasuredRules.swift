import Wording

/// Derives findings from the times measured during a run. Times are measured on the simulating
/// machine and multiplied by the device's slowdown.
struct MeasuredRules {
  let rules: FindingRules
  let device: Device
  let refreshRate: Int
  let work: WorkTable
  /// How often each view was evaluated and each kind of action was reduced in the whole run.
  let counts: [GrowthSubject: Int]

  /// The work of one evaluation or reduction on the device, in nanoseconds.
  struct Load {
    var median: Int64
    var mean: Int64
    /// The median number of elements that the view shows or the action carries.
    var elements: Int
    /// The total work in the whole run.
    var total: Int64
  }

  /// A quarter of a frame. Repeated work of this length is reported, because it crowds out the
  /// frame's other work.
  private var quarterFrame: Int64 { 250_000_000 / Int64(refreshRate) }
  /// The least work of one piece, in nanoseconds, that counts as heavy, however often it runs.
  private static let leastLoad: Int64 = 100_000
  /// The least work per shown element, in nanoseconds, that is reported. Less is normal for a view.
  private static let leastPerElement: Int64 = 10_000

  private func scaled(_ time: Int64) -> Int64 {
    Int64(clamping: Int128(time) * Int128(device.slowdown) / 1_000_000)
  }

  /// Returns the load of a target; `nil` if it has fewer than four samples.
  func load(_ target: WorkTable.Target) -> Load? {
    guard target.samples.count >= 4 else { return nil }
    let sorted = target.samples.map(\.work).sorted()
    let elements = target.samples.map(\.elements).sorted()
    let mean = sorted.reduce(0, +) / Int64(sorted.count)
    let count = counts[GrowthSubject(kind: target.kind, name: target.name)] ?? 0
    return Load(
      median: scaled(sorted[sorted.count / 2]), mean: scaled(mean),
      elements: elements[elements.count / 2],
      total: Int64(clamping: Int128(scaled(mean)) * Int128(count)))
  }

  func load(_ kind: GrowthFinding.Kind, _ name: String) -> Load? {
    work.targets.first { $0.kind == kind && $0.name == name }.flatMap(load)
  }

  private func isNoticed(_ work: Int64, of load: Load) -> Bool {
    work >= quarterFrame
      || work >= Self.leastLoad && rules.perSecond(load.total) >= FindingRules.least
  }

  // MARK: Heavy work

  /// Returns the views and actions with heavy work. `makesViews` returns whether actions of the
  /// given name make something appear.
  func heavy(makesViews: (String) -> Bool) -> [Finding] {
    work.targets.compactMap { target in
      guard let load = load(target), isNoticed(load.median, of: load) else { return nil }
      let time = FixedPoint.milliseconds(load.median, decimals: 2)
      switch target.kind {
      case .view:
        let perElement = load.median / Int64(max(1, load.elements))
        guard perElement >= Self.leastPerElement else { return nil }
        return rules.finding(
          .heavyWork, target.name, cost: load.total,
          "an evaluation takes \(time) ms for \(load.elements) elements",
          "Do this work once, in the model or in state shared by the views, not in each evaluation."
        )
      case .action where makesViews(target.name):
        return rules.finding(
          .initialiser, target.name, cost: load.total,
          "a reduction takes \(time) ms and makes a view appear",
          "Let the state start empty, and fill it with an effect outside the lane (`onLane: false`)."
        )
      case .action:
        return rules.finding(
          .heavyWork, target.name, cost: load.total, "a reduction takes \(time) ms",
          "Do this work in an effect outside the lane (`onLane: false`).")
      }
    }
  }

  // MARK: Growth

  /// Returns the growth findings that take noticeable time on this device.
  func growing(_ growth: [GrowthFinding]) -> [Finding] {
    growth.compactMap { found in
      guard found.variant == rules.run.variant,
        found.field != GrowthFinding.elements || found.order != .linear,
        let load = load(found.kind, found.name),
        let projection = found.projected.first(where: { $0.device == device.name })
      else { return nil }
      let work = VirtualTime(projection.work).nanoseconds
      guard isNoticed(work, of: load) else { return nil }
      let advice =
        found.kind == .view
        ? "Keep the result in the state, and update it together with \(found.field)."
        : "Keep the data derived from \(found.field) in the state, and update it incrementally."
      return rules.finding(
        .growth, found.name, field: found.field, cost: load.total,
        "\(FixedPoint.milliseconds(work, decimals: 2)) ms with \(Format.count(projection.size)) "
          + "elements, as \(found.order.rawValue)", advice)
    }
  }

  // MARK: Copies, lanes, sizes

  func copying(_ copies: CopyRecorder, _ actions: [ActionTally]) -> [Finding] {
    copies.seen.sorted { $0.key < $1.key }.flatMap { kind, seen in
      seen.copies.sorted { $0.key < $1.key }.compactMap { path, copy in
        let name = actions[kind].name
        guard copy.count * 2 >= seen.looks, let load = load(.action, name),
          rules.perSecond(load.total) >= FindingRules.least || load.median >= quarterFrame
        else { return nil }
        return rules.finding(
          .largeCopies, name, field: path, cost: load.total,
          "\(copy.count) of \(seen.looks) examined actions copied up to \(Format.count(copy.bytes / 1_024)) KiB",
          "Change \(path) in place, while no other reference shares its storage.")
      }
    }
  }

  func holding(_ holds: [EffectMeter.Holds]) -> [Finding] {
    holds.compactMap { hold in
      let (total, longest) = (scaled(hold.total), scaled(hold.longest))
      // A single hold may be a one-time initialisation.
      guard hold.count >= 2, longest >= quarterFrame else { return nil }
      return rules.finding(
        .laneHeld, hold.effect, cost: total,
        "\(hold.count) holds longer than 1 ms on this machine, the longest "
          + "\(FixedPoint.milliseconds(longest, decimals: 1)) ms on \(device.name)",
        "Give the effect `onLane: false`.")
    }
  }

  func growingWithoutEnd(_ history: SizeHistory) -> [Finding] {
    history.collections.compactMap { path, sizes in
      guard sizes.riseWithoutEnd, let first = sizes.first, let last = sizes.last,
        last - first >= Self.leastGrowth
      else { return nil }
      let perMinute = Int64(last - first) * 60_000_000_000 / rules.duration
      return rules.finding(
        .unboundedGrowth, path, cost: 0,
        "from \(Format.count(first)) to \(Format.count(last)) elements, "
          + "\(Format.count(Int(perMinute))) more each minute",
        "Keep only the newest elements, with `Log`, and reload the others on demand.")
    }
  }

  /// The least growth, in elements, that is reported. Collections that a person fills by hand grow
  /// less.
  private static let leastGrowth = 256
}
