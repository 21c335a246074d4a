import TerminalScreen
import Wording

/// The progress of a playback so far.
package struct PlaybackProgress: Equatable, Sendable {
  package var fileBytes: Int
  /// The size of the file in bytes; nil if unknown.
  package var fileSize: Int?
  package var lines: Int
  /// The number of lines that the daemon confirmed as applied or rejected.
  package var confirmed: Int
  /// The number of lines that wait until the daemon is reachable again; `nil` while it is
  /// reachable.
  package var waiting: Int?
  package var elapsedNanoseconds: Int64

  package init(
    fileBytes: Int, fileSize: Int?, lines: Int, confirmed: Int, waiting: Int? = nil,
    elapsedNanoseconds: Int64
  ) {
    self.fileBytes = fileBytes
    self.fileSize = fileSize
    self.lines = lines
    self.confirmed = confirmed
    self.waiting = waiting
    self.elapsedNanoseconds = elapsedNanoseconds
  }

  package var seconds: Double { Double(elapsedNanoseconds) / 1e9 }

  /// The fraction of the file that was read, from 0 to 1; nil if the size is unknown.
  package var fraction: Double? {
    guard let fileSize else { return nil }
    return fileSize > 0 ? min(1, Double(fileBytes) / Double(fileSize)) : 1
  }

  /// The remaining time at the average rate; nil in the first 0.5 s or if the size is unknown.
  package var remainingSeconds: Int? {
    guard let fraction, fraction > 0, seconds >= 0.5 else { return nil }
    return Int(clamping: (seconds * (1 - fraction) / fraction).rounded(.up))
  }
}

/// Formats progress as a line of text.
package enum ProgressBar {
  /// Returns one line of at most `columns` columns.
  package static func line(_ progress: PlaybackProgress, columns: Int) -> String {
    var parts: [String] = []
    if let fraction = progress.fraction { parts.append("\(Int(fraction * 100))%") }
    parts.append("\(Format.count(progress.lines)) lines")
    if progress.seconds >= 0.5 {
      parts.append("\(Format.rate(Double(progress.lines) / progress.seconds))/s")
    }
    parts.append("\(Format.count(progress.confirmed)) confirmed")
    if let waiting = progress.waiting {
      parts.append("daemon unreachable, \(Format.count(waiting, "line")) waiting")
    }
    if let remaining = progress.remainingSeconds {
      parts.append("\(Format.duration(seconds: remaining)) left")
    } else if progress.fileSize == nil {
      parts.append(Format.bytes(progress.fileBytes))
    }
    let text = parts.joined(separator: "  ")
    // The two brackets and a space take 3 columns. A bar under 8 columns would be too coarse.
    let width = min(30, columns - text.count - 3)
    guard let fraction = progress.fraction, width >= 8 else {
      return TerminalText.fitted(text, width: columns)
    }
    let done = Int(fraction * Double(width))
    let bar = String(repeating: "#", count: done) + String(repeating: "-", count: width - done)
    return "[\(bar)] \(text)"
  }
}
