import JSON

extension Finding {
  /// One line with the kind, place, cost, evidence, and remedy.
  public var line: String {
    let behind = field.map { kind == .unboundedGrowth ? "" : ", field \($0)" } ?? ""
    let share =
      cost > 0 ? "\(FixedPoint.milliseconds(cost, decimals: 1)) ms/s on \(device); " : ""
    return "\(kind.title): \(subject)\(behind): \(share)\(evidence). \(advice)"
  }
}

extension Finding.Kind {
  /// The display name of the kind.
  public var title: String {
    switch self {
    case .overObservation: "over-observation"
    case .coarseView: "coarse view"
    case .identityChurn: "identity churn"
    case .chattyActions: "chatty actions"
    case .unthrottledInput: "unthrottled input"
    case .wastedEffects: "wasted effects"
    case .laneHeld: "lane held by an effect"
    case .growth: "work that grows"
    case .largeCopies: "large copies"
    case .heavyWork: "heavy work"
    case .initialiser: "work in an initialiser"
    case .unboundedGrowth: "growth without limit"
    }
  }
}

extension SimulationReport {
  /// A heading and one line for each finding; empty without findings.
  var findingLines: [String] {
    guard !findings.isEmpty else { return [] }
    return ["", "Avoidable work:"] + findings.map { "  ! \($0.variant): \($0.line)" }
  }

  func addFindings(to page: inout HTMLPage) {
    guard !findings.isEmpty else { return }
    page.heading(2, "Avoidable work")
    page.list(findings.map { "\($0.variant): \($0.line)" })
  }

  /// Adds counted and measured findings separately, because only measured findings may differ
  /// between two runs of a seed.
  func addFindings(to json: inout JSONWriter) {
    json.addObjects("findings", countedFindings) { $0.addMembers(to: &$1) }
    json.addObjects("measuredFindings", measuredFindings.value) { $0.addMembers(to: &$1) }
  }
}

extension Finding {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.add("kind", kind.rawValue)
    json.add("device", device)
    json.add("variant", variant)
    json.add("subject", subject)
    json.add("field", field)
    json.add("action", action)
    json.addJSON("msPerSecond", FixedPoint.milliseconds(cost))
    json.add("evidence", evidence)
    json.add("advice", advice)
  }
}
