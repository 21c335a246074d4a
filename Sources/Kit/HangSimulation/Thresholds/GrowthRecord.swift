/// A view, or a kind of action.
struct GrowthSubject: Hashable, Sendable {
  var kind: GrowthFinding.Kind
  var name: String
}

/// What was found to grow in the runs of a variant, and of what a run could tell.
struct GrowthRecord: Sendable {
  /// Whether the measurements of a view or kind of action tell how its work grows.
  enum Evidence: Hashable, Sendable {
    case enough
    /// Fewer than a fit needs; this many.
    case few(Int)
    /// There are enough measurements, but the collections had nearly the same sizes in all of them.
    case sameSizes
  }

  /// Of all devices.
  var findings: [GrowthFinding] = []
  /// Of this run. Views and kinds of actions that never came up are not in it.
  private(set) var evidence: [GrowthSubject: Evidence]

  /// Reads what a run measured.
  init(_ table: WorkTable) {
    evidence = Dictionary(
      table.targets.map { (GrowthSubject(kind: $0.kind, name: $0.name), table.evidence(of: $0)) }
    ) { first, _ in first }
  }

  /// Those about a view or kind of action.
  func findings(of subject: GrowthSubject) -> [GrowthFinding] {
    findings.filter { $0.kind == subject.kind && $0.name == subject.name }
  }

  /// What each element adds to an evaluation or reduction, in nanoseconds: 0 if nothing grows, `nil` if the run cannot
  /// tell.
  ///
  /// - Parameter slowdown: of the device, in millionths.
  func perElement(of subject: GrowthSubject, slowdown: Int64) -> Int64? {
    let found = findings(of: subject).map { finding in
      let work = Int128(VirtualTime(finding.perElement).nanoseconds) * Int128(slowdown) / 1_000_000
      return Int64(clamping: work)
    }
    return found.max() ?? (evidence[subject] == .enough ? 0 : nil)
  }

  /// Why the run cannot tell.
  func absence(of subject: GrowthSubject) -> String {
    switch evidence[subject] {
    case nil: "\(subject.name) never \(subject.kind == .view ? "appeared" : "came up")"
    case .few(let count):
      "\(subject.name) was measured \(count) time\(count == 1 ? "" : "s"), and growth takes "
        + "\(GrowthSearch.fewest)"
    case .sameSizes, .enough:
      "no collection changed its size enough to tell how \(subject.name) grows"
    }
  }
}

extension WorkTable {
  /// Whether ``GrowthSearch`` would find that the work of a view or kind of action grows.
  fileprivate func evidence(of target: Target) -> GrowthRecord.Evidence {
    guard target.samples.count >= GrowthSearch.fewest else { return .few(target.samples.count) }
    func tells(_ sizes: [Int]) -> Bool {
      // Most collections stay the same, and most of the others change enough.
      guard let least = sizes.min(), let most = sizes.max(), most - least > 2 else { return false }
      return SizeFit.best(sizes, sizes.map(Double.init)) != nil
    }
    let isEnough =
      tells(target.samples.map(\.elements))
      || paths.indices.contains { tells(sizes(of: $0, at: target.samples)) }
    return isEnough ? .enough : .sameSizes
  }
}

extension ThresholdReport {
  /// Whether the condition is about work that grows with the state, which is measured.
  package var isOfGrowth: Bool { (try? Threshold(text))?.metric.isOfGrowth ?? false }
}
