import ViewGraph

extension SimulationReport {
  /// The text report: the verdict and the thresholds, and for each device a table with the variants
  /// side by side, the causes of the longest turns, and the causes of evaluations.
  public var lines: [String] {
    var lines = [verdict] + thresholds.lines
    if !thresholds.isEmpty { lines.append("") }
    lines.append(
      "\(scenario), seed \(seed), \(FixedPoint.text(duration.milliseconds, decimals: 3, trimmed: true)) s, "
        + "simulator \(version), digest \(digest)")
    if !parameters.isEmpty {
      let list = parameters.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      lines.append("with \(list)")
    }
    for device in devices {
      let runs = runs.filter { $0.device == device }
      guard let first = runs.first else { continue }
      let slowdown = FixedPoint.text(first.slowdown, decimals: 6, trimmed: true)
      let speed = slowdown == "1" ? "as fast" : "\(slowdown) times as slow"
      lines += ["", "\(device): \(speed) as the reference device"]
      lines.append(
        "  \(first.measuredCosts) of \(first.measuredCosts + first.assumedCosts) costs measured, "
          + "\(first.assumedCosts) assumed")
      lines += RunComparison.lines(runs.map(RunMetrics.init), headings: runs.map(\.variant))
      if let rows = measuredRows(device) {
        lines += ["  with costs measured on this machine, median (minimum to maximum):"]
        lines += TextColumns.lines(rows)
      }
      for run in runs { lines += run.explanations }
    }
    return lines + findingLines + realWorkLines
  }

  /// The names of the devices, in the order of the scenario.
  public var devices: [String] { runs.map(\.device).withoutDuplicates }
}

extension RunReport {
  /// The maximum numbers of turns, causes, and views listed below a table.
  private static let turnsShown = 3
  private static let causesShown = 3
  private static let viewsShown = 3

  fileprivate var explanations: [String] {
    var lines = ["  \(variant): longest turns"]
    lines += longestTurns.prefix(Self.turnsShown).map { "    \($0.line)" }
    for view in viewsToExplain {
      lines.append("  \(variant): why \(view.name) was evaluated")
      lines += view.causes.prefix(Self.causesShown).map { "    \($0.line)" }
    }
    return lines
  }

  /// The view with the highest total time including nested views, which it may cause to be
  /// evaluated, and the views with the highest total time excluding nested views.
  private var viewsToExplain: [ViewReport] {
    func longest(_ mean: (ViewReport) -> Int64) -> [ViewReport] {
      views.filter { mean($0) > 0 }
        .sorted { mean($0) * Int64($0.evaluations) > mean($1) * Int64($1.evaluations) }
    }
    let outer = Array(longest(\.mean).prefix(1))
    return outer + longest(\.selfMean).prefix(Self.viewsShown).filter { !outer.contains($0) }
  }
}

extension TurnReport {
  /// One line with the start of the turn, its length, and its main costs.
  public var line: String {
    let seconds = FixedPoint.text(start / 1_000_000, decimals: 3, trimmed: true)
    var line =
      "\(FixedPoint.milliseconds(length, decimals: 1)) ms"
      + (hangClass == HangClass.late.rawValue ? ", late, at " : " \(hangClass) at ")
      + "\(seconds) s:"
    if let action {
      line += " \(action) \(FixedPoint.milliseconds(actionCost, decimals: 1)) ms,"
    }
    if let view { line += " \(view) itself \(FixedPoint.milliseconds(viewCost, decimals: 1)) ms," }
    if appearanceCost > 0 {
      line += " views that appeared \(FixedPoint.milliseconds(appearanceCost, decimals: 1)) ms,"
    }
    line.removeLast()
    return line
  }
}

extension [ThresholdReport] {
  /// One line for each threshold, followed by the details of missed thresholds.
  package var lines: [String] { map(\.line) + flatMap(\.explanation) }

  /// The verdict, followed by the lines.
  package var summary: [String] { [verdict].compactMap(\.self) + lines }
}

extension ViewReport.Cause {
  var line: String {
    let origin = [action, field].compactMap(\.self).joined(separator: " -> ")
    return "\(count) x \(kind)\(origin.isEmpty ? "" : ": \(origin)")"
  }
}
