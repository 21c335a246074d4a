/// A bar for work whose share done is known in percent; shown on a terminal only.
struct PercentBar {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func show(_ percent: Int) {
    guard console.isDiagnosticsTerminal else { return }
    let width = min(40, max(8, console.size().columns - 8))
    let filled = percent * width / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    console.diagnose("\r[\(bar)] \(percent)%\u{1B}[K")
  }

  func clear() {
    if console.isDiagnosticsTerminal { console.diagnose("\r\u{1B}[K") }
  }
}
