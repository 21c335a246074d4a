package import HangSimulation

/// How well faults were found.
package struct DetectionScore: Sendable {
  /// One screen with one seed.
  package struct Trial: Sendable {
    package let fault: PlantedFault
    package let seed: UInt64
    /// What was found in the faulty version.
    package let findings: [Finding]
    /// What was found in the sound version.
    package let falseAlarms: [Finding]
    /// Whether both versions received as many events.
    package let hasSameEvents: Bool

    /// The place of the planted cause among the findings, from 0; `nil` if it was missed.
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

  /// How many screens there are.
  package var screens: Int { Set(trials.map(\.fault.name)).count }
  /// How many planted causes were named, with the seed with which these were the fewest.
  package var found: Int { worst({ $0.min() }) { $0.rank == nil ? 0 : 1 } }
  /// How many of them were the first finding of their screen.
  package var foundFirst: Int { worst({ $0.min() }) { $0.rank == 0 ? 1 : 0 } }
  /// How many findings sound screens had, with the seed with which these were the most.
  package var falseAlarms: Int { worst({ $0.max() }) { $0.falseAlarms.count } }

  /// A table with a row for each screen, then what was missed, what else was found in its place, and the false alarms.
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
