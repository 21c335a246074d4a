package import ControlInterface

/// The six parts of a room's screen as text.
package struct RoomScreen: Sendable {
  private let report: RoomReport
  private let shown: Set<Feature>

  /// - Parameter features: those to show; empty means all.
  package init(_ report: RoomReport, features: [Feature] = []) {
    self.report = report
    shown = Set(features.isEmpty ? Feature.allCases : features)
  }

  /// The lines, none wider than asked for; as much of chat as the rows have room for.
  package func lines(columns: Int, rows: Int?) -> [String] {
    var top = ["\(TerminalText.sanitized(report.room)) [\(report.phase.rawValue)]"]
    for feature in [Feature.header, .waitingRoom, .control, .liveRoomStats, .recorder]
    where shown.contains(feature) {
      top += text(feature)
    }
    let foot = [""] + counters
    var chat: [String] = []
    if shown.contains(.chat) {
      chat = chatHeading
      let limit = rows.map { max(0, $0 - top.count - foot.count - chat.count) } ?? Int.max
      chat += messages.suffix(limit)
    }
    return (top + chat + foot).map { TerminalText.fitted($0, width: columns) }
  }

  private func text(_ feature: Feature) -> [String] {
    let features = report.features
    return switch feature {
    case .header: header(features.header)
    case .waitingRoom: waitingRoom(features.waitingRoom)
    case .control: control(features.control)
    case .liveRoomStats: statistics(features.liveRoomStats)
    case .recorder: recorder(features.recorder)
    case .chat: chatHeading + messages
    }
  }

  private func line(_ name: String, _ text: String) -> String {
    TerminalText.padded(name, width: 9) + text
  }

  private func header(_ header: HeaderReport?) -> [String] {
    guard let header else { return [line("header", "-")] }
    let title = header.title.isEmpty ? "(no title)" : TerminalText.sanitized(header.title)
    return [
      line("header", title),
      line(
        "",
        "\(Format.duration(seconds: header.durationMs / 1000)) on air, "
          + "\(Format.count(header.viewers)) viewers (peak \(Format.count(header.peakViewers))), "
          + "\(Format.count(header.likes)) likes"),
    ]
  }

  private func waitingRoom(_ room: WaitingRoomReport?) -> [String] {
    guard let room else { return [line("waiting", "-")] }
    let people = room.people ?? []
    let names = people.prefix(Self.people).map {
      "\(TerminalText.sanitized($0.name)) (\(TerminalText.sanitized($0.id)))"
    }
    let more = room.waiting > names.count ? ", ..." : ""
    return [line("waiting", Self.text(room))]
      + (names.isEmpty ? [] : [line("", names.joined(separator: ", ") + more)])
  }

  /// How many of those who wait are named.
  private static let people = 8

  private func control(_ control: ControlReport?) -> [String] {
    guard let control else { return [line("control", "-")] }
    let dragging = Set(control.dragging)
    let sliders = control.values.sorted { $0.key < $1.key }.map { name, value in
      "\(TerminalText.sanitized(name)) \(Int(clamping: value * 100))%\(dragging.contains(name) ? "~" : "")"
    }
    let switches = control.switches.sorted { $0.key < $1.key }.map { name, isOn in
      "\(TerminalText.sanitized(name)) \(isOn ? "on" : "off")"
    }
    let parts = sliders + switches
    return [
      line("control", parts.isEmpty ? "-" : parts.joined(separator: ", ")),
      line("", "\(Format.count(control.committed)) committed, \(control.dragging.count) dragging"),
    ]
  }

  private func statistics(_ stats: LiveRoomStatsReport?) -> [String] {
    guard let stats else { return [line("stats", "-")] }
    func value(_ number: Double?, _ unit: String) -> String {
      number.map { "\(Format.rate($0)) \(unit)" } ?? "- \(unit)"
    }
    return [
      line(
        "stats",
        [
          TerminalText.sanitized(stats.quality), value(stats.last.bitrateKbps, "kbit/s"),
          value(stats.last.framesPerSecond, "frames/s"), value(stats.last.roundTripMs, "ms"),
          stats.last.droppedFrames.map { "\(Format.count(Int(clamping: $0))) dropped" }
            ?? "- dropped",
        ].joined(separator: ", "))
    ]
  }

  private func recorder(_ recorder: RecorderReport?) -> [String] {
    guard let recorder else { return [line("recorder", "-")] }
    var text = recorder.state.rawValue
    if recorder.durationMs > 0 || recorder.bytes > 0 {
      text +=
        ", \(Format.duration(seconds: recorder.durationMs / 1000)), \(Format.bytes(recorder.bytes))"
    }
    if let progress = recorder.progress { text += ", \(Int(clamping: progress * 100))%" }
    return [line("recorder", text)]
  }

  private var chatHeading: [String] {
    guard let chat = report.features.chat else { return [line("chat", "-")] }
    return [
      line(
        "chat",
        "\(Format.count(chat.total)) messages by \(Format.count(chat.chatters)), "
          + "\(Format.rate(chat.rate))/s, \(Format.count(chat.deleted)) deleted, "
          + "\(Format.count(chat.moderations)) moderations, \(Format.count(chat.notices)) notices")
    ] + Self.reading(chat)
  }

  /// Of a chat with a filter, what passes it.
  private var messages: [String] {
    let chat = report.features.chat
    return (chat?.filtered ?? chat?.messages ?? []).map { "  " + Self.text($0) }
  }

  private var counters: [String] {
    let counters = report.counters
    return [
      "\(Format.count(counters.received)) events = \(Format.count(counters.applied)) applied "
        + "+ \(Format.count(counters.coalesced)) coalesced",
      "  + \(Format.count(counters.rejected)) rejected "
        + "+ \(Format.count(counters.pending)) pending; "
        + "\(Format.count(report.actions)) actions, \(Format.count(report.frames)) frames",
    ]
  }
}
