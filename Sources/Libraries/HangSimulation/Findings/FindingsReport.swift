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
    json.addArray("findings") { json in
      for finding in countedFindings { finding.append(to: &json) }
    }
    json.addArray("measuredFindings") { json in
      for finding in measuredFindings.value { finding.append(to: &json) }
    }
  }
}

extension Finding {
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
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
}
