import HangSimulation

/// A benchmark of tools that find hangs: thirty screens with one planted fault each, and the same
/// screens without the fault.
package enum HangDetection {
  /// All screens, grouped by the kind of fault.
  package static let faults: [PlantedFault] = [
    ChildObservedAsWhole.fault, ReadsMoreThanItShows.fault, CollectionHandedDown.fault,
    SelectionInEveryRow.fault, ClockInLargeView.fault,
    FreshRowIdentifiers.fault, RowsIdentifiedByPosition.fault, CollectionBuiltAnew.fault,
    SpinnerReplacesList.fault,
    UnthrottledSlider.fault, SearchWithoutDebounce.fault, ProgressPerChunk.fault,
    TimerTooOften.fault, LogicSharedByActions.fault, OneActionPerElement.fault,
    ParsesOnLane.fault, DecodesFeedOnLane.fault, SheetBuildsIndex.fault,
    WorkInViewInitialiser.fault, FormatterPerRow.fault, DecodesInReducer.fault,
    FilterInBody.fault, SortInReducer.fault, FilterPerRow.fault, QuadraticText.fault,
    IndexPerAction.fault, DeepEquality.fault, LargeCopy.fault, LogWithoutLimit.fault,
    HistoryWithoutLimit.fault,
  ]

  /// Simulates both versions of each screen with each seed.
  ///
  /// - Parameters:
  ///   - names: the screens to run, or empty for all.
  ///   - progress: called before each screen of each seed.
  /// - Throws: ``SimulationProblem``, `CancellationError`.
  package static func run(
    seeds: ClosedRange<UInt64>, names: [String] = [],
    progress: (_ seed: UInt64, _ fault: PlantedFault) -> Void = { _, _ in }
  ) async throws -> DetectionScore {
    var score = DetectionScore()
    for seed in seeds {
      for fault in faults where names.isEmpty || names.contains(fault.name) {
        progress(seed, fault)
        let faulty = try await fault.plan(.faulty, seed: seed).run().report
        let sound = try await fault.plan(.sound, seed: seed).run().report
        score.trials.append(
          DetectionScore.Trial(
            fault: fault, seed: seed, findings: faulty.findings, falseAlarms: sound.findings,
            hasSameEvents: faulty.runs.map(\.events.received) == sound.runs.map(\.events.received)))
      }
    }
    return score
  }
}
