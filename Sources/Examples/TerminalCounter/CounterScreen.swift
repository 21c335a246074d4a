/// What the counter's keys are; printed when the program begins.
package let help =
  "+ and - count, t starts and stops the timer, f finds prime factors, q quits; then Enter"

extension Counter.State {
  /// The counter as one line of text.
  package var line: String {
    var line = "\(count)"
    if !factors.isEmpty { line += " = \(factors.map { "\($0)" }.joined(separator: " · "))" }
    if isTimerOn { line += " (timer on)" }
    return line
  }
}

extension Counter.Action {
  /// The action of a key; `nil` for keys that do nothing.
  package init?(key: Character) {
    switch key {
    case "+": self = .plusTapped
    case "-": self = .minusTapped
    case "t": self = .timerTapped
    case "f": self = .factorsTapped
    default: return nil
    }
  }
}
