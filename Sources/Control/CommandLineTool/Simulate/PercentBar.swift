import SystemSupport
package import TerminalScreen
import Wording

/// A progress bar in percent, shown only on a terminal.
package struct PercentBar {
  private let console: Console
  private let start = MonotonicClock.nanoseconds()

  package init(_ console: Console) { self.console = console }

  package func show(_ percent: Int) {
    console.showProgress { columns in
      let elapsed = Double(MonotonicClock.nanoseconds() - start) / 1e9
      return Self.line(percent, elapsed: elapsed, columns: columns)
    }
  }

  package func clear() { console.clearProgress() }

  /// Returns one line of at most `columns` columns, with the bar, the rate so far, and the
  /// remaining time at this rate.
  package static func line(_ percent: Int, elapsed: Double, columns: Int) -> String {
    let percent = min(100, max(0, percent))
    var text = "\(percent)%"
    if percent > 0, elapsed >= 0.5 {
      let rate = Double(percent) / elapsed
      let rest = Int(clamping: (Double(100 - percent) / rate).rounded(.up))
      text += "  \(Format.rate(rate))%/s  \(Format.duration(seconds: rest)) left"
    }
    let width = min(30, columns - text.count - 3)
    guard width >= 8 else { return TerminalText.fitted(text, width: columns) }
    let filled = percent * width / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "[\(bar)] \(text)"
  }
}
