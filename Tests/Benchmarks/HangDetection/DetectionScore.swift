package import HangSimulation

/// The result of the benchmark.
package struct DetectionScore: Sendable {
  /// The result of one screen with one seed.
  package struct Trial: Sendable {
    package let fault: PlantedFault
    package let seed: UInt64
    /// The findings for the faulty version.
    package let findings: [Finding]
    /// The findings for the sound version.
    package let falseAlarms: [Finding]
    /// Whether both versions received the same number of events.
    package let hasSameEvents: Bool

    /// The index of the planted cause among the findings, or nil if no finding names it.
    package var rank: Int? {
      findings.firstIndex {
        $0.kind == fault.cause.kind && $0.subject == fault.cause.subject
          && (fault.cause.field == nil || $0.field == fault.cause.field)
      }
    }
  }

  package var trials: [Trial] = []

  private func worst(_ pick: ([Int]) -> Int?, _ count: (Trial) -> Int) -> Int {
    pick(Dictionary(grouping: trials, by: \.seed).values.map { $0.reduce(0) { $0 + count($1) } })
      ?? 0
  }

  /// The number of screens.
  package var screens: Int { Set(trials.map(\.fault.name)).count }
  /// The number of planted causes that were named, for the seed that found the fewest.
  package var found: Int { worst({ $0.min() }) { $0.rank == nil ? 0 : 1 } }
  /// The number of planted causes that were the first finding of their screen.
  package var foundFirst: Int { worst({ $0.min() }) { $0.rank == 0 ? 1 : 0 } }
  /// The number of findings for sound screens, for the seed that caused the most.
  package var falseAlarms: Int { worst({ $0.max() }) { $0.falseAlarms.count } }

  /// A table with a row for each screen, followed by the missed faults with the other findings for
  /// their screens, and the false alarms.
  package var lines: [String] {
    var lines: [String] = []
    var names: [String] = []
    for trial in trials where !names.contains(trial.fault.name) { names.append(trial.fault.name) }
    for name in names {
      let trials = trials.filter { $0.fault.name == name }
      let found = trials.count { $0.rank != nil }
      let first = trials.count { $0.rank == 0 }
      let alarms = trials.count { !$0.falseAlarms.isEmpty }
      let padding = String(repeating: " ", count: max(1, 32 - name.utf8.count))
      lines.append(
        "\(name)\(padding)found \(found)/\(trials.count), first \(first)/\(trials.count), "
          + "false alarms \(alarms)/\(trials.count)")
    }
    lines += details
    lines.append(
      "found \(found) of \(screens), first \(foundFirst), missed \(screens - found), "
        + "false alarms \(falseAlarms), with the worst of \(Set(trials.map(\.seed)).count) seeds")
    return lines
  }

  private var details: [String] {
    trials.flatMap { trial in
      var lines: [String] = []
      let (name, seed) = (trial.fault.name, trial.seed)
      if trial.rank == nil {
        lines.append("missed: \(name), seed \(seed); found instead:")
        lines += trial.findings.map { "    \($0.line)" }
      }
      return lines + trial.falseAlarms.map { "false alarm: \(name), seed \(seed): \($0.line)" }
    }
  }
}
