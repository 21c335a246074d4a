/// A view or a kind of action.
struct GrowthSubject: Hashable, Sendable {
  var kind: GrowthFinding.Kind
  var name: String
}

/// The growth found in the runs of a variant, and whether a run could detect growth.
struct GrowthRecord: Sendable {
  /// Whether the measurements of a view or action kind suffice to judge its growth.
  enum Evidence: Hashable, Sendable {
    case enough
    /// There are fewer measurements than a fit needs; the value is their number.
    case few(Int)
    /// There are enough measurements, but the collections had nearly the same sizes in all of them.
    case sameSizes
  }

  /// The findings on all devices.
  var findings: [GrowthFinding] = []
  /// The evidence of this run. Views and action kinds that never occurred have no entry.
  private(set) var evidence: [GrowthSubject: Evidence]

  /// Creates a record from the measurements of a run.
  init(_ table: WorkTable) {
    evidence = Dictionary(
      table.targets.map { (GrowthSubject(kind: $0.kind, name: $0.name), table.evidence(of: $0)) }
    ) { first, _ in first }
  }

  /// Returns the findings about a view or action kind.
  func findings(of subject: GrowthSubject) -> [GrowthFinding] {
    findings.filter { $0.kind == subject.kind && $0.name == subject.name }
  }

  /// Returns the time that each element adds to an evaluation or reduction, in nanoseconds: 0 if
  /// nothing grows, `nil` if the run cannot be judged.
  ///
  /// - Parameter slowdown: The slowdown of the device, in millionths.
  func perElement(of subject: GrowthSubject, slowdown: Int64) -> Int64? {
    let found = findings(of: subject).map { finding in
      let work = Int128(VirtualTime(finding.perElement).nanoseconds) * Int128(slowdown) / 1_000_000
      return Int64(clamping: work)
    }
    return found.max() ?? (evidence[subject] == .enough ? 0 : nil)
  }

  /// Returns the reason why the run cannot be judged.
  func absence(of subject: GrowthSubject) -> String {
    switch evidence[subject] {
    case nil: "\(subject.name) never \(subject.kind == .view ? "appeared" : "occurred")"
    case .few(let count):
      "\(subject.name) was measured \(count) time\(count == 1 ? "" : "s"); growth needs "
        + "\(GrowthSearch.fewest)"
    case .sameSizes, .enough:
      "no collection changed its size enough to judge the growth of \(subject.name)"
    }
  }
}

extension WorkTable {
  /// Returns whether ``GrowthSearch`` could detect growth of a view or action kind.
  fileprivate func evidence(of target: Target) -> GrowthRecord.Evidence {
    guard target.samples.count >= GrowthSearch.fewest else { return .few(target.samples.count) }
    func isInformative(_ sizes: [Int]) -> Bool {
      // A cheap check before the fit, because most collections keep their size.
      guard let least = sizes.min(), let most = sizes.max(), most - least > 2 else { return false }
      return SizeFit.best(sizes, sizes.map(Double.init)) != nil
    }
    let isEnough =
      isInformative(target.samples.map(\.elements))
      || paths.indices.contains { isInformative(sizes(of: $0, at: target.samples)) }
    return isEnough ? .enough : .sameSizes
  }
}

extension ThresholdReport {
  /// Whether the condition is about measured growth.
  package var isOfGrowth: Bool { (try? Threshold(text))?.metric.isOfGrowth ?? false }
}
