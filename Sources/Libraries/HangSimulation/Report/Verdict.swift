import Wording

extension SimulationReport {
  /// The verdict of the whole report in a few words.
  public var verdict: String {
    if let verdict = thresholds.verdict { return verdict }
    guard let worst = runs.max(by: { ($0.hangs, $0.microhangs) < ($1.hangs, $1.microhangs) }) else {
      return "No run"
    }
    func count(_ number: Int, _ noun: String) -> String {
      "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
    return "At worst \(count(worst.hangs, "hang")) and \(count(worst.microhangs, "microhang")): "
      + "\(worst.device), \(worst.variant)"
  }
}

extension [ThresholdReport] {
  /// The combined verdict; `nil` without thresholds.
  var verdict: String? {
    guard !isEmpty else { return nil }
    let missed = count(where: \.isMissed)
    if missed > 0 { return "\(missed) of \(count) threshold\(count == 1 ? "" : "s") not met" }
    let skipped = count { $0.skipped != nil }
    if skipped == count { return "No threshold was checked: \(skipped) skipped" }
    if skipped > 0 { return "\(count - skipped) of \(count) thresholds met, \(skipped) skipped" }
    return count == 1 ? "The threshold is met" : "All \(count) thresholds are met"
  }
}
