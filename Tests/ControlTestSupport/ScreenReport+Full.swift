package import ControlInterface

extension ScreenNode {
  package static func text(_ text: String, _ emphasis: ScreenEmphasis? = nil) -> ScreenNode {
    ScreenNode(kind: .text, text: text, emphasis: emphasis)
  }

  package static func row(_ parts: ScreenNode...) -> ScreenNode {
    ScreenNode(kind: .row, parts: parts)
  }
  package static func column(_ parts: ScreenNode...) -> ScreenNode {
    ScreenNode(kind: .column, parts: parts)
  }

  package static func gauge(_ label: String, _ value: Double, _ detail: String) -> ScreenNode {
    ScreenNode(kind: .gauge, text: label, value: value, detail: detail)
  }

  package static func panel(
    _ name: String, _ title: String, priority: Int, usefulRows: Int? = nil, _ parts: ScreenNode...
  ) -> ScreenNode {
    ScreenNode(
      kind: .panel, text: title,
      panel: ScreenPanel(
        name: name, priority: priority, minimumRows: 1, usefulRows: usefulRows), parts: parts)
  }

  package static func messages(
    _ range: Range<Int>, scrolling: String = "messages",
    _ text: (Int) -> String = { "日本語 text \($0)" }
  ) -> ScreenNode {
    ScreenNode(
      kind: .list, scrolling: scrolling,
      parts: range.map { number in
        var row = ScreenNode.row(.text("名前:", .person), .text(text(number)))
        row.id = "\(number)"
        return row
      })
  }
}

extension ScreenReport {
  /// A synthetic screen with every kind of node, including a message that tries to control the
  /// terminal.
  package static let full = ScreenReport.made(
    chat: .messages(0..<3) { $0 == 2 ? "hi\u{1B}[2J" : "text \($0)" })

  /// - Parameters:
  ///   - chat: the list of the chat.
  ///   - viewers: the text of the header.
  ///   - recorder: the text of the recorder; empty for none.
  package static func made(
    room: String = "main", chat: ScreenNode, viewers: Int = 3, recorder: ScreenNode = .text("idle")
  ) -> ScreenReport {
    let stats = ScreenNode(
      kind: .table,
      columns: [
        ScreenColumn(title: "", alignment: .left), ScreenColumn(title: "now", alignment: .right),
        ScreenColumn(title: "most", alignment: .right, optional: true),
        ScreenColumn(title: "", alignment: .left, optional: true),
      ],
      parts: [
        .row(
          .text("bitrate", .faint), .text("4,500"), .text("5,000"),
          ScreenNode(kind: .sparkline, samples: [1, 2, 3])),
        .row(.text("frames", .faint), .text("59.9"), .text("60.0"), ScreenNode(kind: .empty)),
      ])
    let views: [ScreenNode] = [
      .column(
        .row(ScreenNode(kind: .badge, text: "LIVE", emphasis: .active)),
        ScreenNode(kind: .child, view: 2),
        ScreenNode(kind: .child, view: 3), ScreenNode(kind: .child, view: 4)),
      .panel(
        "header", "Stream", priority: 0, usefulRows: 2, .text("Sunday cooking", .strong),
        .row(.text("4:12 on the air"), .text("\(viewers) viewers"))),
      .panel("chat", "Chat", priority: 1, .text("2,500 messages"), chat),
      .column(
        .panel("stats", "Statistics", priority: 2, usefulRows: 4, .text("good", .good), stats),
        .panel(
          "control", "Controls", priority: 3, usefulRows: 4, .gauge("volume", 0.5, "50%"),
          .gauge("zoom", 0.05, "5% dragged")),
        .panel("recorder", "Recorder", priority: 4, usefulRows: 2, recorder)),
    ]
    let named = views.enumerated().map { index, output in
      ("\(index + 1)", ScreenView(name: "View\(index + 1)", output: output))
    }
    return ScreenReport(
      root: 1, views: Dictionary(uniqueKeysWithValues: named), room: room,
      counters: Counters(received: 10, applied: 7, coalesced: 1, rejected: 1, pending: 1),
      actions: 5, frames: 3)
  }
}
