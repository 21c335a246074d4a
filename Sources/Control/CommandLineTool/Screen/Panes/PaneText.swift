import ControlInterface

/// What stands in the panes of a room, but for chat.
struct PaneText {
  let report: RoomReport
  /// What the waiting room was like last, if it is gone.
  let lastWaitingRoom: WaitingRoomReport?

  static func title(_ feature: Feature) -> String {
    switch feature {
    case .chat: "chat"
    case .control: "control"
    case .header: "header"
    case .liveRoomStats: "live room stats"
    case .recorder: "recorder"
    case .waitingRoom: "waiting room"
    }
  }

  /// The lines of a pane, fitted to its place as far as that changes what is told; there may be more of
  /// them than rows.
  func lines(_ feature: Feature, columns: Int, rows: Int) -> [StyledLine] {
    switch feature {
    case .chat: []
    case .control: control(columns: columns, rows: rows)
    case .header: header(columns: columns)
    case .liveRoomStats: statistics(columns: columns, rows: rows)
    case .recorder: recorder(columns: columns)
    case .waitingRoom: waitingRoom
    }
  }

  // MARK: Header

  private func header(columns: Int) -> [StyledLine] {
    var first = StyledLine()
    let (phase, style) = Self.phase(report.phase)
    first.append(phase, style)
    first.append("  ")
    guard let header = report.features.header else { return [first] }
    if header.title.isEmpty {
      first.append("(no title)", .faint)
    } else {
      first.append(TerminalText.sanitized(header.title), .strong)
    }
    var facts = [
      "\(Format.duration(seconds: header.durationMs / 1_000)) on air",
      "\(Format.count(header.viewers)) viewers (peak \(Format.count(header.peakViewers)))",
      "\(Format.count(header.likes)) likes",
    ]
    if columns < 60 {
      facts[1] = "\(Format.count(header.viewers)) viewers"
    }
    var second = StyledLine(facts.joined(separator: "  "))
    if let connection = header.connection {
      second.append("  connection ", .faint)
      second.append(TerminalText.sanitized(connection), Self.quality(connection))
    }
    return [first, second]
  }

  static func phase(_ phase: Phase) -> (text: String, style: TextStyle) {
    switch phase {
    case .waiting: ("WAITING", TextStyle(.yellow, reversed: true))
    case .live: ("LIVE", TextStyle(.red, strong: true, reversed: true))
    case .paused: ("PAUSED", TextStyle(.yellow, reversed: true))
    case .ended: ("ENDED", TextStyle(reversed: true))
    }
  }

  private static func quality(_ word: String) -> TextStyle {
    switch word {
    case "good": .good
    case "fair": .warning
    case "poor": .bad
    default: .plain
    }
  }

  // MARK: Statistics

  private struct Measurement: Sendable {
    let name: String
    let unit: String
    /// Whether the unit alone does not tell what it is.
    var needsName = false
    var isCount = false
    let of: @Sendable (StatisticsReport) -> Double?

    func text(_ report: StatisticsReport) -> String {
      guard let value = of(report) else { return "-" }
      return isCount ? Format.count(Int(clamping: value)) : Format.rate(value)
    }
  }

  private static let measurements = [
    Measurement(name: "bitrate", unit: "kbit/s") { $0.bitrateKbps },
    Measurement(name: "frames", unit: "/s") { $0.framesPerSecond },
    Measurement(name: "round trip", unit: "ms", needsName: true) { $0.roundTripMs },
    Measurement(name: "dropped", unit: "frames", needsName: true, isCount: true) {
      $0.droppedFrames
    },
    Measurement(name: "congestion", unit: "%", needsName: true) { $0.congestion.map { $0 * 100 } },
  ]

  private func statistics(columns: Int, rows: Int) -> [StyledLine] {
    guard let stats = report.features.liveRoomStats else {
      return [StyledLine("none while the stream is not on air", .faint)]
    }
    var heading = StyledLine(TerminalText.sanitized(stats.quality), Self.quality(stats.quality))
    if let fault = stats.fault {
      heading.append(" because of \(TerminalText.sanitized(fault))", Self.quality(stats.quality))
    }
    let known = Self.measurements.filter { $0.of(stats.last) != nil }
    if rows <= known.count {
      // No room for a line each.
      let values = known.map { measurement in
        var item = StyledLine(measurement.needsName ? "\(measurement.name) " : "", .faint)
        item.append("\(measurement.text(stats.last)) \(measurement.unit)")
        return item
      }
      return StyledLine.flow([heading] + values, width: columns)
    }
    let columnNames = columns >= 56 ? ["now", "least", "mean", "most"] : ["now", "least", "most"]
    let sources: [StatisticsReport] =
      columns >= 56
      ? [stats.last, stats.minimum, stats.mean, stats.maximum]
      : [stats.last, stats.minimum, stats.maximum]
    let width = max(6, (columns - 20) / columnNames.count)
    heading.append(Self.right(columnNames[0], 12 + width - heading.width), .faint)
    for name in columnNames.dropFirst() { heading.append(Self.right(name, width), .faint) }
    return [heading]
      + known.map { measurement in
        var line = StyledLine(TerminalText.padded(measurement.name, width: 12), .faint)
        for (index, source) in sources.enumerated() {
          line.append(
            Self.right(measurement.text(source), width), index == 0 ? .strong : .plain)
        }
        line.append(" \(measurement.unit)", .faint)
        return line
      }
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - TerminalText.width(text))) + text
  }

  // MARK: Control

  private func control(columns: Int, rows: Int) -> [StyledLine] {
    guard let control = report.features.control else { return [] }
    let dragged = Set(control.dragging)
    let names = Set(control.values.keys).union(dragged).sorted()
    let switches = control.switches.sorted { $0.key < $1.key }
    if names.isEmpty, switches.isEmpty { return [StyledLine("nothing was touched yet", .faint)] }
    let positions = switches.map { name, isOn in
      StyledLine([
        ("\(TerminalText.sanitized(name)) ", .plain), (isOn ? "on" : "off", isOn ? .good : .faint),
      ])
    }
    let switchLines = StyledLine.flow(positions, width: columns)
    guard names.count + switchLines.count > rows || columns < 24 else {
      let width = min(14, names.map(TerminalText.width).max() ?? 0)
      return names.map { name in
        slider(name, control.values[name], dragged.contains(name), nameWidth: width, columns)
      } + switchLines
    }
    // No room for a line each.
    let values = names.map { name in
      let isDragged = dragged.contains(name)
      return StyledLine([
        ("\(TerminalText.sanitized(name)) ", .plain),
        (
          Self.percent(control.values[name]) + (isDragged ? "~" : ""),
          isDragged ? .warning : .strong
        ),
      ])
    }
    return StyledLine.flow(values + positions, width: columns)
  }

  private func slider(
    _ name: String, _ value: Double?, _ isDragged: Bool, nameWidth: Int, _ columns: Int
  ) -> StyledLine {
    var line = StyledLine(
      TerminalText.padded(TerminalText.sanitized(name), width: nameWidth) + " ")
    let tail = Self.right(Self.percent(value), 5) + (isDragged ? " dragged" : "")
    let width = min(20, columns - nameWidth - 1 - 15)
    if width >= 5 { line = line + Self.bar(value ?? 0, width: width) }
    line.append(tail, isDragged ? .warning : .plain)
    return line
  }

  private static func percent(_ value: Double?) -> String {
    value.map { "\(Int(clamping: $0 * 100))%" } ?? "-"
  }

  static func bar(_ share: Double, width: Int) -> StyledLine {
    let filled = min(width, max(0, Int(clamping: share * Double(width))))
    return StyledLine([
      ("[", .faint), (String(repeating: "#", count: filled), .plain),
      (String(repeating: "-", count: width - filled), .faint), ("]", .faint),
    ])
  }

  // MARK: Recorder

  private func recorder(columns: Int) -> [StyledLine] {
    guard let recorder = report.features.recorder else { return [] }
    var lines: [StyledLine] = []
    let (own, elsewhere) = (recorder.own, recorder.elsewhere)
    if own == nil, elsewhere == nil {
      lines.append(
        single(
          "",
          SingleRecorderReport(
            state: recorder.state, bytes: recorder.bytes, durationMs: recorder.durationMs)))
    }
    if let own { lines.append(single("here ", own)) }
    if let elsewhere { lines.append(single(own == nil ? "" : "elsewhere ", elsewhere)) }
    if let progress = recorder.progress {
      var line = Self.bar(progress, width: max(8, min(30, columns - 8)))
      line.append(" \(Self.percent(progress))")
      lines.append(line)
    }
    return lines
  }

  private func single(_ name: String, _ recorder: SingleRecorderReport) -> StyledLine {
    var line = StyledLine(name, .faint)
    let style: TextStyle =
      switch recorder.state {
      case .idle: .faint
      case .starting, .paused, .stopping: .warning
      case .recording: TextStyle(.red, strong: true)
      case .failed: .bad
      }
    line.append(recorder.state.rawValue, style)
    if recorder.durationMs > 0 || recorder.bytes > 0 {
      line.append(
        "  \(Format.duration(seconds: recorder.durationMs / 1_000))  \(Format.bytes(recorder.bytes))"
      )
    }
    return line
  }

  // MARK: Waiting room

  private var waitingRoom: [StyledLine] {
    guard let room = report.features.waitingRoom else {
      if let last = lastWaitingRoom {
        return [StyledLine("over; \(Format.count(last.admitted)) were admitted", .faint)]
      }
      return [
        StyledLine(
          report.phase == .waiting ? "nobody waits" : "over, as the stream has begun", .faint)
      ]
    }
    var first = StyledLine("\(Format.count(room.waiting)) waiting", .strong)
    first.append(", \(Format.count(room.admitted)) admitted")
    if let capacity = room.capacity { first.append(" of \(Format.count(capacity))") }
    guard let seconds = room.secondsLeft else { return [first] }
    return [first, StyledLine("begins in \(Format.duration(seconds: seconds))", .warning)]
  }
}
