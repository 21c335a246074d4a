/// What was found in one run, before it is known what grows.
struct RunFindings {
  let rules: MeasuredRules
  /// What follows from the plan alone.
  var counted: [Finding]
  var measured: [Finding]
}

extension [RunFindings] {
  /// What was counted in all runs, the costliest first.
  var counted: [Finding] { merged(flatMap(\.counted)) }

  /// What was measured, the costliest first.
  func measured(_ growth: [GrowthFinding]) -> [Finding] {
    let all = merged(flatMap { $0.measured + $0.rules.growing(growth) })
    return all.filter { finding in !all.contains { $0.explains(finding) } }
  }

  /// Of findings that differ in their device, the one with the highest cost.
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
  /// By cost; those of equal cost stay in their order.
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

  /// Whether another finding is about the same work, and this one says more about it.
  fileprivate func explains(_ other: Finding) -> Bool {
    guard variant == other.variant, subject == other.subject else { return false }
    switch (kind, other.kind) {
    case (.largeCopies, .growth): return field == other.field
    case (.largeCopies, .heavyWork), (.growth, .heavyWork): return true
    default: return false
    }
  }
}
