import HangCommand
import HangSimulation
import JSON

extension SimulationResult {
  /// The result in the form that `HangCommand` writes to files.
  var outcome: CommandOutcome {
    var seed: UInt64 = 0
    if case .integer(let number) = report["seed"] { seed = UInt64(clamping: number) }
    var outcome = CommandOutcome(
      title: report["scenario"]?.stringValue ?? "", lines: lines, json: report.description,
      thresholds: (report["thresholds"]?.arrayValue ?? []).compactMap {
        ThresholdReport(json: $0, seed: seed)
      })
    outcome.realWork = ["growth", "laneHolds"].flatMap { report[$0]?.arrayValue ?? [] }
      .compactMap { $0["line"]?.stringValue }
    return outcome
  }
}

extension ThresholdReport {
  fileprivate init?(json: JSONValue, seed: UInt64) {
    guard let text = json["text"]?.stringValue, let value = json["value"]?.stringValue else {
      return nil
    }
    let failures = (json["failedRuns"]?.arrayValue ?? []).compactMap { failure -> Failure? in
      guard let device = failure["device"]?.stringValue,
        let variant = failure["variant"]?.stringValue, let value = failure["value"]?.stringValue
      else { return nil }
      let explanation = (failure["explanation"]?.arrayValue ?? []).compactMap(\.stringValue)
      var failure = Failure(
        device: device, variant: variant, value: value, base: failure["base"]?.stringValue,
        seed: seed, failedSeeds: 1, seeds: 1)
      failure.explanation = explanation
      return failure
    }
    self.init(
      text: text, value: value, failures: failures, skipped: json["skipped"]?.stringValue)
  }
}
