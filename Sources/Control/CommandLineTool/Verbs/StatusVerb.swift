import ArgumentParser
package import ControlInterface
import JSON
import LiveEvents
import SystemSupport
package import TerminalScreen
import UnixSockets
import Wording

struct StatusVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the daemon's status.",
    discussion: """
      JSON: an object with version, uptimeSeconds, rooms, eventsPerSecond, totals, health, \
      longestTurnMicroseconds, memoryBytes, journalEntriesLost, lanes, microhangs, hangs, logLevel \
      and longestSliceMicroseconds. The following members are present only if there is something \
      to report: problems, a list of objects with part, text, since and room; refusals, a list of \
      objects with user, resource and count; packedRooms, the number of hibernated rooms; \
      unknownKinds and unusableFields, objects with counts by name; and sources, the entries of \
      'livehostctl sources' with events that could not be shown.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    let (status, sources) = try await context.withDaemon { client in
      let status = try await client.getStatus()
      let sources = try? await client.listSources(room: nil).sources
      return (status, (sources ?? []).filter { $0.notShown != nil })
    }
    var members = try JSONValue(encoding: status).objectValue ?? [:]
    if !sources.isEmpty { members["sources"] = try JSONValue(encoding: sources) }
    try context.print(.object(members)) {
      StatusText.lines(status, sources: sources, health: context.console.styled)
    }
  }
}

/// Formats the output of the verb `status`.
package enum StatusText {
  /// Returns the lines of the status. `now` is in milliseconds since 1970. `sources` are the
  /// sources that sent events that could not be shown. `styled` applies a style to the word for the
  /// daemon's health.
  package static func lines(
    _ status: StatusReport, sources: [SourceReport] = [], now: Int = WallClock.milliseconds(),
    health styled: (String, TextStyle) -> String = { text, _ in text }
  ) -> [String] {
    let totals = status.totals
    var lines = [
      "livehostd \(TerminalText.sanitized(status.version)), "
        + styled(health(status.health), TextStyle(status.health)),
      "  uptime        \(Format.duration(seconds: status.uptimeSeconds))",
      "  rooms         \(Format.count(status.rooms)) on \(status.lanes) "
        + (status.lanes == 1 ? "lane" : "lanes")
        + (status.packedRooms.map { ", \(Format.count($0)) of them hibernated" } ?? ""),
      "  events        \(Format.rate(status.eventsPerSecond))/s; "
        + "\(Format.count(totals.received)) received = \(Format.count(totals.applied)) applied "
        + "+ \(Format.count(totals.coalesced)) coalesced + \(Format.count(totals.rejected)) rejected "
        + "+ \(Format.count(totals.pending)) pending",
    ]
    if !totals.rejectedByReason.isEmpty {
      lines.append("  rejected      \(CountsText.line(totals.rejectedByReason))")
    }
    if let kinds = status.unknownKinds {
      lines.append("  unknown kinds \(TerminalText.sanitized(CountsText.line(kinds)))")
    }
    if let fields = status.unusableFields {
      lines.append("  bad fields    \(TerminalText.sanitized(CountsText.line(fields)))")
    }
    for source in sources {
      let reason = source.reason.map { ": \($0)" } ?? ""
      lines.append(
        "  not shown     "
          + TerminalText.sanitized(
            "\(Format.count(source.notShown ?? 0)) of \(source.source) in room "
              + "\(source.room)\(reason)"))
    }
    lines += [
      "  longest turn  \(Format.microseconds(status.longestTurnMicroseconds)); "
        + "\(Format.count(status.microhangs, "microhang")), \(Format.count(status.hangs, "hang"))",
      "  memory        \(Format.bytes(status.memoryBytes))",
    ]
    if status.longestSliceMicroseconds > 0 {
      lines.append(
        "  tasks         longest slice \(Format.microseconds(status.longestSliceMicroseconds))")
    }
    if status.journalEntriesLost > 0 {
      lines.append("  journal       \(Format.count(status.journalEntriesLost)) entries lost")
    }
    for problem in status.problems ?? [] {
      let room = problem.room.map { " of room \(TerminalText.sanitized($0))" } ?? ""
      let seconds = max(0, (now - problem.since) / 1_000)
      lines.append(
        "  problem       \(TerminalText.sanitized(problem.part))\(room), for "
          + "\(Format.duration(seconds: seconds)): \(TerminalText.sanitized(problem.text))")
    }
    lines += refusals(status.refusals ?? [])
    return lines
  }

  /// Returns one line for each user whose calls or connections were refused, at most ten.
  private static func refusals(_ refusals: [RefusalReport]) -> [String] {
    let byUser = Dictionary(grouping: refusals) { $0.user }
    let users = byUser.sorted { ($0.key ?? .max) < ($1.key ?? .max) }
    return users.prefix(10).map { user, rows in
      "  refused       \(user.map { "user \($0)" } ?? "others"): "
        + rows.map { "\(RefusalText.phrase($0.resource, $0.count))" }.joined(separator: ", ")
    }
  }

  private static func health(_ health: Health) -> String {
    switch health {
    case .ok: "ok"
    case .degraded: "degraded: working, but something was lost or late"
    case .failing: "failing: rooms or connections make no progress"
    }
  }
}

enum RefusalText {
  static func phrase(_ resource: RefusedResource, _ count: Int) -> String {
    let (one, several) =
      switch resource {
      case .connection: ("connection", "connections")
      case .ingestConnection: ("ingest connection", "ingest connections")
      case .ingestPermission: ("unpermitted ingest connection", "unpermitted ingest connections")
      case .idleConnection: ("idle connection closed", "idle connections closed")
      case .monitor: ("monitor", "monitors")
      case .callLength: ("long call", "long calls")
      case .unfinishedCall: ("unfinished call", "unfinished calls")
      case .memory:
        ("connection closed to free memory", "connections closed to free memory")
      }
    return "\(Format.count(count)) \(count == 1 ? one : several)"
  }
}

/// Formats counts and their names on one line, the largest count first.
enum CountsText {
  static func line(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\(TerminalText.sanitized($0.key)) \(Format.count($0.value))" }
      .joined(separator: ", ")
  }
}

/// Formats the output of the verb `rooms`.
package enum RoomList {
  package static func lines(_ rooms: [RoomSummary], columns: Int = .max) -> [String] {
    if rooms.isEmpty { return ["no room is open"] }
    var table = TextTable([
      ("ROOM", .left), ("PHASE", .left), ("VIEWERS", .right), ("RECEIVED", .right),
      ("APPLIED", .right), ("COALESCED", .right), ("REJECTED", .right), ("PENDING", .right),
    ])
    for room in rooms {
      let counters = room.counters
      table.append(
        [TerminalText.sanitized(room.room), room.phase.rawValue]
          + [
            room.viewers, counters.received, counters.applied, counters.coalesced,
            counters.rejected, counters.pending,
          ].map(Format.count))
    }
    return table.lines(columns: columns)
  }
}
