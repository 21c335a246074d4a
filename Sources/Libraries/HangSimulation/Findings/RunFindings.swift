/// The findings of one run, before the growth analysis.
struct RunFindings {
  let rules: MeasuredRules
  /// The findings that depend on the plan alone.
  var counted: [Finding]
  var measured: [Finding]
}

extension [RunFindings] {
  /// The counted findings of all runs, costliest first.
  var counted: [Finding] { merged(flatMap(\.counted)) }

  /// Returns the measured findings of all runs, costliest first.
  func measured(_ growth: [GrowthFinding]) -> [Finding] {
    let all = merged(flatMap { $0.measured + $0.rules.growing(growth) })
    return all.filter { finding in !all.contains { $0.explains(finding) } }
  }

  /// Merges findings that differ only in their device, keeping the costliest.
  private func merged(_ findings: [Finding]) -> [Finding] {
    var merged: [Finding] = []
    for finding in findings {
      if let same = merged.firstIndex(where: { $0.isSame(as: finding) }) {
        if merged[same].cost < finding.cost { merged[same] = finding }
      } else {
        merged.append(finding)
      }
    }
    return merged.costliestFirst
  }
}

extension [Finding] {
  /// The findings in descending order of cost. Findings with equal cost keep their order.
  var costliestFirst: [Finding] {
    enumerated().sorted { ($1.element.cost, $0.offset) < ($0.element.cost, $1.offset) }.map(
      \.element)
  }
}

extension Finding {
  fileprivate func isSame(as other: Finding) -> Bool {
    kind == other.kind && variant == other.variant && subject == other.subject
      && field == other.field
  }

  /// Whether both findings describe the same work and this one is more specific.
  fileprivate func explains(_ other: Finding) -> Bool {
    guard variant == other.variant, subject == other.subject else { return false }
    switch (kind, other.kind) {
    case (.largeCopies, .growth): return field == other.field
    case (.largeCopies, .heavyWork), (.growth, .heavyWork): return true
    default: return false
    }
  }
}
