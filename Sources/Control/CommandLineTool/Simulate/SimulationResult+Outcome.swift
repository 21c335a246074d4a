import HangCommand
import HangSimulation
import JSON

extension SimulationResult {
  /// The same for files, wherever it ran.
  var outcome: CommandOutcome {
    CommandOutcome(
      title: report["scenario"]?.stringValue ?? "", lines: lines, json: "",
      thresholds: (report["thresholds"]?.arrayValue ?? []).compactMap(ThresholdReport.init(json:)))
  }
}

extension ThresholdReport {
  fileprivate init?(json: JSONValue) {
    guard let text = json["text"]?.stringValue, let value = json["value"]?.stringValue else {
      return nil
    }
    let failures = (json["failedRuns"]?.arrayValue ?? []).compactMap { failure -> Failure? in
      guard let device = failure["device"]?.stringValue,
        let variant = failure["variant"]?.stringValue, let value = failure["value"]?.stringValue
      else { return nil }
      return Failure(
        device: device, variant: variant, value: value, seed: 0, failedSeeds: 1, seeds: 1)
    }
    self.init(text: text, value: value, failures: failures)
  }
}
