import Glibc
import JSON
import LiveEvents
import LiveSources
import SystemSupport
import TwitchChat
import Wording

/// Reports the progress of a source to a terminal, the journal or another program.
package struct SourceReporter: Sendable {
  private let json: Bool
  /// Whether to rewrite one line of a terminal repeatedly.
  private let isTerminal: Bool
  /// Whether the service manager reads the lines, which may then start with a severity.
  private let isJournal: Bool

  init(json: Bool) {
    self.json = json
    isTerminal = !json && isatty(STDERR_FILENO) == 1
    isJournal = getenv("JOURNAL_STREAM") != nil && !isTerminal
  }

  func report(_ report: SourceRun.Report) {
    if json {
      write(Self.json(report), to: STDOUT_FILENO)
      return
    }
    switch report {
    case .status(let channel, let state, let reason):
      let isBad = state == .refused
      log("\(channel): \(state.rawValue)\(reason.map { ", \($0)" } ?? "")", isWarning: isBad)
    case .gap(let channel, let gap):
      let length = Format.duration(milliseconds: gap.to - gap.from)
      log("\(channel): no data for \(length): \(gap.reason)", isWarning: true)
    case .progress(let progress):
      if isTerminal { write("\r\(Self.line(progress))\u{1B}[K", to: STDERR_FILENO) }
    }
  }

  func fail(_ message: String) { log(message, isWarning: true) }

  private func log(_ message: String, isWarning: Bool = false) {
    let text = Self.printable(message)
    let start = isJournal ? (isWarning ? "<4>" : "<6>") : "livehost-source: "
    write("\(isTerminal ? "\r\u{1B}[K" : "")\(start)\(text)\n", to: STDERR_FILENO)
  }

  /// Removes, from text that a server sent, the characters that control a terminal or start another
  /// line in the journal.
  static func printable(_ text: String) -> String {
    SafeText.spelled(text)
  }

  /// Returns the line for a terminal, without a line ending.
  package static func line(_ progress: SourceProgress) -> String {
    var parts = [
      progress.state.rawValue, "\(Format.count(progress.received, "line"))",
      "\(Format.count(progress.delivered)) delivered",
    ]
    if !progress.hasDaemon { parts.append("livehostd unreachable") }
    if progress.waiting > 0 { parts.append("\(Format.count(progress.waiting)) waiting") }
    if progress.duplicates > 0 { parts.append(Format.count(progress.duplicates, "duplicate")) }
    if progress.refused > 0 { parts.append("\(Format.count(progress.refused)) refused") }
    if progress.gaps > 0 {
      let length = Format.duration(milliseconds: progress.gapMilliseconds)
      parts.append("\(Format.count(progress.gaps, "gap")) of \(length)")
    }
    return parts.joined(separator: "  ")
  }

  /// Returns the report as one line of JSON.
  package static func json(_ report: SourceRun.Report) -> String {
    var writer = JSONWriter()
    writer.appendObject { object in
      switch report {
      case .status(let channel, let state, let reason):
        object.add("report", "state")
        object.add("channel", channel)
        object.add("state", state.rawValue)
        object.add("reason", reason)
      case .gap(let channel, let gap):
        object.add("report", "gap")
        object.add("channel", channel)
        object.add("from", gap.from)
        object.add("to", gap.to)
        object.add("reason", gap.reason)
      case .progress(let progress):
        object.add("report", "progress")
        object.add("state", progress.state.rawValue)
        object.add("received", progress.received)
        object.add("delivered", progress.delivered)
        object.add("waiting", progress.waiting)
        object.add("duplicate", progress.duplicates)
        object.add("refused", progress.refused)
        object.add("gaps", progress.gaps)
        object.add("gapMs", progress.gapMilliseconds)
        object.add("daemon", progress.hasDaemon)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  private func write(_ text: String, to descriptor: Int32) {
    var text = text
    // Errors are ignored, because the source continues after the reader of its output has exited.
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension Format {
  /// Returns `0.4 s` below ten seconds, and the usual format for longer durations.
  fileprivate static func duration(milliseconds: Int) -> String {
    milliseconds < 10_000
      ? "\(rate(Double(milliseconds) / 1000)) s" : duration(seconds: milliseconds / 1000)
  }
}
