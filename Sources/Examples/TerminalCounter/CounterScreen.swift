/// The help text about the keys, printed at the start.
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
  /// Returns the action that a key triggers, or `nil` if there is none.
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
