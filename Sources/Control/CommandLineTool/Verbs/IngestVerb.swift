import ArgumentParser
import ChatImport
import ControlInterface
package import JSON
import LiveEvents
import TerminalScreen
import Wording

struct IngestVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "Send the events of a file or of standard input to the daemon.",
    discussion: """
      The file contains one event per line, native or Twitch IRC, or a chat recorded by another \
      program: yt-dlp's .live_chat.json, notifications of Twitch's EventSub, a log of Chatterino, \
      or a chat saved by TwitchDownloader, chat-downloader or pytchat as JSON. The file may be \
      UTF-16, and may be compressed with gzip. Unknown kinds of message in a recorded chat are \
      counted by name. A log of Chatterino contains local times in the zone of --time-zone, unless \
      its first line says UTC.

      The events are paced by their own timestamps, multiplied by the speed. 'max' plays the file \
      as fast as the daemon accepts it; frames then follow the recording's time. Input that is \
      being written live needs no option.

      Ends once the daemon has confirmed that all events are applied and saved. The exit code is 1 \
      if they could not be saved. It is 65 if nothing could be read, if every event was rejected \
      or, with --strict, if any event was rejected. A rejected event does not prevent other events \
      from being applied.

      If the daemon restarts while standard input or a pipe is read, this verb reconnects and \
      sends unacknowledged lines again; each line takes effect once. While 8 MiB are \
      unacknowledged, no further input is read.

      JSON: an object with lines, bytes, received, rejected and seconds; with unknown if kinds \
      were unknown, and with reconnections if there were any.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The file; '-' means standard input.", completion: .file()) var file: String
  @Option(help: ArgumentHelp("Format of every line.", valueName: "format"))
  var format = LineFormat.auto
  @Option(
    help: ArgumentHelp(
      "Room of all events, whatever rooms the lines name.", valueName: "room"))
  var room: RoomName?
  @Option(help: ArgumentHelp("Speed factor, or 'max'.", valueName: "n|max"))
  var speed: PlaybackSpeed = .times(1)
  @Option(
    help: ArgumentHelp(
      "Time zone of a log that does not name its own, such as Europe/Berlin or UTC.",
      valueName: "zone"))
  var timeZone: TimeZoneName = .local
  @Flag(
    help: "Exit with 65 if any event is rejected: an unknown type, a duplicate, a protocol line.")
  var strict = false

  func run(_ context: Context) async throws {
    let (path, format, zone) = (file, format, timeZone.logZone)
    let console = context.console
    var onProgress: (@Sendable (PlaybackProgress) -> Void)?
    if console.isDiagnosticsTerminal {
      onProgress = { progress in
        console.showProgress { ProgressBar.line(progress, columns: $0) }
      }
    }
    let before = try? await rejections(context)
    do {
      let result = try await Playback.run(
        PlaybackPlan(room: room, speed: speed, format: format, reconnects: file == "-"),
        to: context.socketPaths,
        from: { TranslatedSource(try FileSource(path: path), format: format, zone: zone) },
        onProgress: onProgress,
        onConnection: { isConnected in
          console.clearProgress()
          console.warn(
            isConnected
              ? "connected again; unacknowledged lines are sent again"
              : "the daemon is unreachable; waiting for it")
        })
      console.clearProgress()
      if let reason = result.unrecorded {
        throw Failure(
          .failed,
          "\(PlaybackText.line(result)); all lines are applied, but some are not saved: "
            + TerminalText.sanitized(reason),
          details: ["result": PlaybackText.json(result)])
      }
      let confirmed = result.confirmed
      if let reason = PlaybackText.unreadable(result, name: file) {
        throw Failure(.badData, reason, details: ["result": PlaybackText.json(result)])
      }
      let isAll = confirmed.received > 0 && confirmed.rejected == confirmed.received
      let isFailure = isAll || strict && confirmed.rejected > 0
      if !isFailure {
        try context.print(PlaybackText.json(result)) { [PlaybackText.line(result)] }
      }
      if confirmed.rejected > 0, let before, let after = try? await rejections(context),
        let text = PlaybackText.rejections(after.merging(before) { $0 - $1 })
      {
        console.warn(text)
      }
      if isFailure {
        throw Failure(
          .badData,
          PlaybackText.line(result)
            + (isAll
              ? "; all events were rejected, 'livehostctl status' shows why"
              : "; --strict does not allow rejected events"),
          details: ["result": PlaybackText.json(result)])
      }
    } catch let interrupted as PlaybackInterrupted {
      console.clearProgress()
      let confirmed = interrupted.result.confirmed
      throw Failure(
        interrupted.failure.status,
        "\(interrupted.failure.message); the daemon had confirmed "
          + "\(Format.count(confirmed.received)) events, \(Format.count(confirmed.rejected)) rejected",
        details: ["result": PlaybackText.json(interrupted.result)])
    }
  }
}

extension IngestVerb {
  /// Returns the numbers of events that the daemon has rejected so far, by reason.
  private func rejections(_ context: Context) async throws -> [String: Int] {
    try await context.withDaemon { try await $0.getStatus().totals.rejectedByReason }
  }
}

/// Formats the result of a playback.
package enum PlaybackText {
  package static func line(_ result: PlaybackResult) -> String {
    "\(Format.count(result.lines, "line")) sent; the daemon confirmed "
      + "\(Format.count(result.confirmed.received)) received, "
      + "\(Format.count(result.confirmed.rejected)) rejected; "
      + "\(Format.rate(Double(result.elapsedNanoseconds) / 1e9)) s" + unknown(result.unknown)
  }

  /// Returns a message that explains why nothing in the input could be read, and names the input's
  /// likely format. Returns `nil` if something was read, or if standard input was empty.
  package static func unreadable(_ result: PlaybackResult, name: String) -> String? {
    let name = name == "-" ? "standard input" : TerminalText.sanitized(name)
    let isNothing = result.confirmed.received == result.confirmed.rejected
    guard isNothing, result.bytes > 0 || !result.unknown.isEmpty || name != "standard input",
      let appearance = result.appearance
    else { return nil }
    let look =
      appearance == FileAppearance.empty
      ? "\(name) is empty" : "\(name) looks like \(TerminalText.sanitized(appearance))"
    if result.lines == 0, appearance != FileAppearance.empty {
      return look + ", but nothing in it could be translated" + unknown(result.unknown)
    }
    return look + "; this verb reads \(FileAppearance.supported)"
  }

  /// Returns the five most frequent kinds of message that could not be translated.
  private static func unknown(_ kinds: [String: Int]) -> String {
    guard !kinds.isEmpty else { return "" }
    let sorted = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let named = sorted.prefix(5).map {
      "\(TerminalText.sanitized($0.key)) (\(Format.count($0.value)))"
    }
    let more = sorted.count > 5 ? " and \(Format.count(sorted.count - 5, "other"))" : ""
    return "; not translated: " + named.joined(separator: ", ") + more
  }

  /// Returns the reasons of rejections; `nil` if there are none.
  package static func rejections(_ counts: [String: Int]) -> String? {
    let reasons = counts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard !reasons.isEmpty else { return nil }
    let list = reasons.map { "\(Format.count($0.value)) \($0.key)" }.joined(separator: ", ")
    return "rejected in the meantime, from all sources: \(list); "
      + "livehost-events(5) explains the reasons"
  }

  package static func json(_ result: PlaybackResult) -> JSONValue {
    var object: [JSONName: JSONValue] = [
      "lines": .integer(Int64(result.lines)), "bytes": .integer(Int64(result.bytes)),
      "received": .integer(Int64(result.confirmed.received)),
      "rejected": .integer(Int64(result.confirmed.rejected)),
      "seconds": .number(Double(result.elapsedNanoseconds / 1_000_000) / 1000),
    ]
    if !result.unknown.isEmpty {
      object["unknown"] = .object(
        Dictionary(
          result.unknown.map { (JSONName($0.key), .integer(Int64($0.value))) },
          uniquingKeysWith: { first, _ in first }))
    }
    if let reason = result.unrecorded { object["unrecorded"] = .string(reason) }
    if result.reconnections > 0 {
      object["reconnections"] = .integer(Int64(result.reconnections))
    }
    return .object(object)
  }
}
