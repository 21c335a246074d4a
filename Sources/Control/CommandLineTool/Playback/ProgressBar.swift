import Wording

/// How far a playback has got.
package struct PlaybackProgress: Equatable, Sendable {
  /// The bytes of the file read so far, and its size; nil if the size is unknown.
  package var fileBytes: Int
  package var fileSize: Int?
  package var lines: Int
  /// Lines that the daemon has confirmed as applied or rejected.
  package var confirmed: Int
  /// While the daemon is away, the lines that wait for it; otherwise `nil`.
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

  /// From 0 to 1; nil if the size is unknown.
  package var fraction: Double? {
    guard let fileSize else { return nil }
    return fileSize > 0 ? min(1, Double(fileBytes) / Double(fileSize)) : 1
  }

  /// The remaining time at the rate so far; nil while that is unknown.
  package var remainingSeconds: Int? {
    guard let fraction, fraction > 0, seconds >= 0.5 else { return nil }
    return Int(clamping: (seconds * (1 - fraction) / fraction).rounded(.up))
  }
}

/// A line that shows progress.
package enum ProgressBar {
  /// Exactly one line, at most `columns` wide.
  package static func line(_ progress: PlaybackProgress, columns: Int) -> String {
    var parts: [String] = []
    if let fraction = progress.fraction { parts.append("\(Int(fraction * 100))%") }
    parts.append("\(Format.count(progress.lines)) lines")
    if progress.seconds >= 0.5 {
      parts.append("\(Format.rate(Double(progress.lines) / progress.seconds))/s")
    }
    parts.append("\(Format.count(progress.confirmed)) confirmed")
    if let waiting = progress.waiting {
      parts.append("daemon away, \(Format.count(waiting, "line")) waiting")
    }
    if let remaining = progress.remainingSeconds {
      parts.append("\(Format.duration(seconds: remaining)) left")
    } else if progress.fileSize == nil {
      parts.append(Format.bytes(progress.fileBytes))
    }
    let text = parts.joined(separator: "  ")
    // Leaves out two brackets and a space; a bar of less than 8 columns would say nothing.
    let width = min(30, columns - text.count - 3)
    guard let fraction = progress.fraction, width >= 8 else {
      return TerminalText.fitted(text, width: columns)
    }
    let done = Int(fraction * Double(width))
    let bar = String(repeating: "#", count: done) + String(repeating: "-", count: width - done)
    return "[\(bar)] \(text)"
  }
}
