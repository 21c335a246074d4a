import Wording

extension SimulationReport {
  /// What the whole report comes to, in a few words.
  public var verdict: String {
    if let verdict = thresholds.verdict { return verdict }
    guard let worst = runs.max(by: { ($0.hangs, $0.microhangs) < ($1.hangs, $1.microhangs) }) else {
      return "No run"
    }
    func count(_ number: Int, _ what: String) -> String {
      "\(number) \(what)\(number == 1 ? "" : "s")"
    }
    return "At worst \(count(worst.hangs, "hang")) and \(count(worst.microhangs, "microhang")): "
      + "\(worst.device), \(worst.variant)"
  }
}

extension [ThresholdReport] {
  /// What they come to together; `nil` if there are none.
  var verdict: String? {
    guard !isEmpty else { return nil }
    let failed = count { !$0.passed }
    if failed > 0 { return "\(failed) of \(count) threshold\(count == 1 ? "" : "s") not met" }
    return count == 1 ? "The threshold is met" : "All \(count) thresholds are met"
  }
}
