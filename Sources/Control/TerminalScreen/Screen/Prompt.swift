import ControlInterface
import JSON

/// The bottom line while the user types a text or answers a question.
struct Prompt {
  enum Purpose {
    case search
    case filter
    case input(ActTarget, ScreenAct)
    /// The question whether to perform a host action, with the value that the user entered for it.
    case confirmation(ActTarget, ScreenAct, JSONValue?)
  }

  var purpose: Purpose
  var label: String
  var text = ""

  /// The maximum width of the description of an element in a question.
  private static let describedColumns = 40

  /// A prompt for the level or the text that a host action requires; `nil` if it requires neither.
  static func input(for act: ScreenAct, on target: ActTarget) -> Prompt? {
    let label = TerminalText.sanitized(act.label)
    switch act.input {
    case .level: return Prompt(purpose: .input(target, act), label: label + " (0 to 100): ")
    case .text: return Prompt(purpose: .input(target, act), label: label + ": ")
    case .row, .numberedRow, nil:
      return act.text == nil ? nil : Prompt(purpose: .input(target, act), label: label + ": ")
    }
  }

  /// The question whether to perform a host action that cannot be undone, such as "ban Ann? y/n ".
  static func confirmation(
    of act: ScreenAct, on target: ActTarget, _ value: JSONValue?
  ) -> Prompt {
    let words = [TerminalText.sanitized(act.label), target.summary(width: describedColumns)]
    return Prompt(
      purpose: .confirmation(target, act, value),
      label: words.filter { !$0.isEmpty }.joined(separator: " ") + "? y/n ")
  }

  var line: StyledLine {
    StyledLine([
      (label, .strong), (TerminalText.sanitized(text), .plain), (" ", TextStyle(reversed: true)),
    ])
  }
}

extension ActTarget {
  /// Returns a description of the element in one line of at most `width` columns: the words of a
  /// list's row or, for any other element, the name of the person whom it shows.
  func summary(width: Int) -> String {
    guard let node else { return "" }
    let drawing = NodeDrawing(columns: .max, form: .plain)
    if row != nil {
      let words = drawing.sentence(node).map(\.text).joined(separator: " ")
      return TerminalText.fitted(words, width: width)
    }
    let name = (node.parts ?? [node]).first { $0.emphasis == .person }?.text ?? ""
    return TerminalText.fitted(TerminalText.sanitized(name), width: width)
  }
}
