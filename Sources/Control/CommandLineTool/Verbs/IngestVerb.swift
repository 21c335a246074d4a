import ArgumentParser
package import JSON
import LiveEvents
import Wording

struct IngestVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "ingest", abstract: "Feed a file or standard input to the daemon.",
    discussion: """
      The file holds one event per line, native or Twitch IRC, and may be compressed with gzip. It is \
      paced by its own time stamps, multiplied by the speed; 'max' plays it as fast as the daemon accepts \
      it, and frames then follow the recording's time. Input that is being written live needs no option.

      Ends once the daemon has confirmed that everything is applied and saved; the status is 1 if it \
      could not be saved.

      JSON: an object with lines, bytes, received, rejected and seconds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The file; '-' means standard input.", completion: .file()) var file: String
  @Option(help: ArgumentHelp("Format of every line.", valueName: "format"))
  var format = LineFormat.auto
  @Option(help: ArgumentHelp("Room for every line, whatever the line says.", valueName: "room"))
  var room: RoomName?
  @Option(help: ArgumentHelp("Speed factor, or 'max'.", valueName: "n|max"))
  var speed: PlaybackSpeed = .times(1)

  func run(_ context: Context) async throws {
    let bar = context.console.isDiagnosticsTerminal ? ProgressLine(context.console) : nil
    let path = file
    var onProgress: (@Sendable (PlaybackProgress) -> Void)?
    if let bar { onProgress = { bar.show($0) } }
    do {
      let result = try await Playback.run(
        PlaybackPlan(room: room, speed: speed, format: format), to: context.socketPaths,
        from: { try FileSource(path: path) }, onProgress: onProgress)
      bar?.clear()
      if let reason = result.unrecorded {
        throw Failure(
          .failed,
          "\(PlaybackText.line(result)); all of it is applied, but not all of it is kept: "
            + TerminalText.sanitized(reason),
          details: ["result": PlaybackText.json(result)])
      }
      let confirmed = result.confirmed
      if confirmed.received > 0, confirmed.rejected == confirmed.received {
        throw Failure(
          .badData,
          "\(PlaybackText.line(result)); all events were rejected, 'livehostctl status' shows why",
          details: ["result": PlaybackText.json(result)])
      }
      try context.print(PlaybackText.json(result)) { [PlaybackText.line(result)] }
    } catch let interrupted as PlaybackInterrupted {
      bar?.clear()
      let confirmed = interrupted.result.confirmed
      throw Failure(
        interrupted.failure.status,
        "\(interrupted.failure.message); the daemon had confirmed "
          + "\(Format.count(confirmed.received)) events, \(Format.count(confirmed.rejected)) rejected",
        details: ["result": PlaybackText.json(interrupted.result)])
    }
  }
}

/// The result of a playback, as it is printed.
package enum PlaybackText {
  package static func line(_ result: PlaybackResult) -> String {
    "\(Format.count(result.lines, "line")) sent; the daemon confirmed "
      + "\(Format.count(result.confirmed.received)) received, "
      + "\(Format.count(result.confirmed.rejected)) rejected; "
      + "\(Format.rate(Double(result.elapsedNanoseconds) / 1e9)) s"
  }

  package static func json(_ result: PlaybackResult) -> JSONValue {
    var object: [JSONName: JSONValue] = [
      "lines": .integer(Int64(result.lines)), "bytes": .integer(Int64(result.bytes)),
      "received": .integer(Int64(result.confirmed.received)),
      "rejected": .integer(Int64(result.confirmed.rejected)),
      "seconds": .number(Double(result.elapsedNanoseconds / 1_000_000) / 1000),
    ]
    if let reason = result.unrecorded { object["unrecorded"] = .string(reason) }
    return .object(object)
  }
}

/// The progress bar on the terminal's current line.
private struct ProgressLine: Sendable {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func show(_ progress: PlaybackProgress) {
    // The last column stays free: writing there makes some terminals wrap.
    let line = ProgressBar.line(progress, columns: max(1, console.size().columns - 1))
    console.diagnose("\r\(line)\u{1B}[K")
  }

  func clear() { console.diagnose("\r\u{1B}[K") }
}
