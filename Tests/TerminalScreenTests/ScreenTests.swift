import ControlInterface
import ControlTestSupport
import Foundation
import JSON
import TerminalScreen
import TerminalTestSupport
import Testing

private func lines(_ grid: CellGrid) -> [String] { (0..<grid.rows).map { grid.text(row: $0) } }

@Suite struct PaneLayoutTests {
  private static let six: [PaneLayout.SpaceNeed] = [
    .init(priority: 0, minimumRows: 3, usefulRows: 3),
    .init(priority: 1, minimumRows: 3, usefulRows: nil),
    .init(priority: 2, minimumRows: 2, usefulRows: 8),
    .init(priority: 3, minimumRows: 2, usefulRows: 5),
    .init(priority: 4, minimumRows: 2, usefulRows: 3),
    .init(priority: 5, minimumRows: 2, usefulRows: 2),
  ]

  @Test(arguments: [(100, 30), (60, 20), (84, 18), (44, 14), (200, 60), (43, 30)])
  func `all panes have a region, and none covers another`(columns: Int, rows: Int) {
    let regions = PaneLayout(Self.six, columns: columns, rows: rows).regions
    #expect(Set(regions.map(\.pane)) == Set(Self.six.indices))
    var covered = Set<Int>()
    for region in regions {
      #expect(region.rows >= 2 && region.columns >= 20)
      for row in region.row..<region.row + region.rows {
        for column in region.column..<region.column + region.columns {
          #expect(row < rows && column < columns)
          #expect(covered.insert(row * 1_000 + column).inserted, "\(region.pane)")
        }
      }
    }
  }

  @Test(arguments: [(100, 30), (80, 24), (60, 40)])
  func `each pane gets at most the rows that it can use, and unbounded panes get the rest`(
    columns: Int, rows: Int
  ) {
    let regions = PaneLayout(Self.six, columns: columns, rows: rows).regions
    for region in regions {
      guard let useful = Self.six[region.pane].usefulRows else { continue }
      #expect(region.rows <= max(useful, 8))
    }
    #expect(regions.map { $0.row + $0.rows }.max() == rows)
  }

  @Test(arguments: [(160, 48, 0), (160, 48, 5), (100, 30, 5), (100, 30, 20)])
  func `a column beside the list is drawn only if a third of its rows would be used`(
    columns: Int, rows: Int, useful: Int
  ) {
    let needs: [PaneLayout.SpaceNeed] = [
      .init(priority: 0, minimumRows: 3, usefulRows: 3),
      .init(priority: 1, minimumRows: 3, usefulRows: nil),
      .init(priority: 2, minimumRows: 2, usefulRows: 2 + useful),
    ]
    let regions = PaneLayout(needs, columns: columns, rows: rows).regions
    let list = regions.first { $0.pane == 1 }
    #expect((list?.columns == columns) == (useful < 20))
    #expect(useful == 20 || list?.rows == rows - 3 - 2 - useful)
  }

  @Test func `a small terminal shows only the most important panes`() {
    let regions = PaneLayout(Self.six, columns: 40, rows: 7).regions
    #expect(regions.map(\.pane) == [0, 1])
    let one = [PaneLayout.SpaceNeed(priority: 4, minimumRows: 2, usefulRows: 2)]
    #expect(PaneLayout(one, columns: 40, rows: 7).regions.map(\.rows) == [2])
    #expect(PaneLayout([], columns: 40, rows: 7).regions.isEmpty)
  }
}

@Suite struct RowHistoryTests {
  private func identities(_ history: RowHistory) -> [Int] {
    history.rows.compactMap { $0.id.flatMap { Int($0) } }
  }

  @Test func `a list keeps rows that the daemon no longer reports, under the same numbers`() {
    var history = RowHistory()
    for first in stride(from: 0, to: 100, by: 5) { history.merge(.messages(first..<first + 10)) }
    #expect(identities(history) == Array(0..<105))
    #expect(history.end == 105)
  }

  @Test func `after a gap in the reported rows, newer rows are appended to the older rows`() {
    var history = RowHistory()
    history.merge(.messages(0..<3))
    history.merge(.messages(10..<12))
    #expect(identities(history) == [0, 1, 2, 10, 11])
  }

  @Test func `a row removed by a moderator disappears from the list`() {
    var history = RowHistory()
    history.merge(.messages(0..<6))
    history.merge(.messages(3..<7))
    var list = ScreenNode.messages(2..<8)
    list.parts?.removeAll { $0.id == "4" }
    history.merge(list)
    #expect(identities(history) == [0, 1, 2, 3, 5, 6, 7])
    // Row 4 was removed, and a row older than all known rows was added.
    var other = RowHistory()
    other.merge(.messages(3..<6))
    list = .messages(2..<6)
    list.parts?.removeAll { $0.id == "4" }
    other.merge(list)
    #expect(identities(other) == [2, 3, 5])
    other.merge(.messages(0..<0))
    #expect(identities(other) == [])
  }

  @Test func `a list with a new filter replaces the stored rows`() {
    var history = RowHistory()
    history.merge(.messages(0..<6))
    let isSame = history.merge(.messages(2..<3, scrolling: "filtered"))
    #expect(!isSame)
    #expect(identities(history) == [2])
  }

  @Test func `the number of stored rows of a list is limited`() {
    var history = RowHistory()
    history.merge(.messages(0..<5_000))
    #expect(history.rows.count == RowHistory.capacity)
    #expect(history.end == 5_000)
  }
}

@Suite struct NodeDrawingTests {
  private func texts(_ node: ScreenNode, columns: Int = 60, _ form: NodeDrawing.Form = .full)
    -> [String]
  {
    NodeDrawing(columns: columns, form: form).lines(node).map(\.text)
  }

  @Test func `consecutive gauges have aligned bars`() {
    let gauges = ScreenNode.column(
      .gauge("volume", 0.5, "50%"), .gauge("音量", 0.05, "5% dragged"), .gauge("nan", .nan, "-"))
    #expect(
      texts(gauges, columns: 36) == [
        "volume █████████░░░░░░░░ 50%", "音量   █░░░░░░░░░░░░░░░░  5% dragged",
        "nan    ░░░░░░░░░░░░░░░░░   -",
      ])
    #expect(texts(gauges, .compact) == ["volume 50%  音量 5% dragged  nan -"])
    #expect(texts(gauges, columns: 20).allSatisfy { !$0.contains("░") })
  }

  @Test func `a label is cut only if it would take more than a third of the line`() {
    let gauge = ScreenNode.gauge("the old harbour at night", 0.5, "50%")
    #expect(texts(gauge, columns: 72).first?.hasPrefix("the old harbour at night ███") == true)
    #expect(texts(gauge, columns: 48).first?.hasPrefix("the old harbour… ███") == true)
  }

  @Test func `a table is aligned and drops optional columns`() {
    let table = ScreenNode(
      kind: .table,
      columns: [
        ScreenColumn(title: "", alignment: .left), ScreenColumn(title: "now", alignment: .right),
        ScreenColumn(title: "most", alignment: .right, optional: true),
        ScreenColumn(title: "", alignment: .left),
      ],
      parts: [
        .row(.text("한국어"), .text("5"), .text("1,000"), .text("kbit/s")),
        .row(.text("bitrate"), .text("4,500"), .text("7"), .text("/s")),
      ])
    #expect(
      texts(table) == [
        "           now   most  ", "한국어       5  1,000  kbit/s", "bitrate  4,500      7  /s",
      ])
    #expect(texts(table, columns: 24)[1] == "한국어       5  kbit/s")
    #expect(texts(table, .compact) == ["한국어 5 kbit/s  bitrate 4,500 /s"])
  }

  @Test(arguments: [
    ([], ""), ([0, 0, 0], "▁▁▁"), ([5, 5], "▅▅"), ([0, 7], "▁█"),
    ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
    ([1_000, 1_001], "▄▅"), ([.nan, 1, .infinity], "▅"),
  ])
  func `a sparkline has a character for each sample`(samples: [Double], text: String) {
    #expect(texts(ScreenNode(kind: .sparkline, samples: samples)).joined() == text)
  }

  @Test func `more samples than a sparkline has characters are averaged`() {
    let samples = (0..<120).map(Double.init)
    let text = texts(ScreenNode(kind: .sparkline, samples: samples)).joined()
    #expect(text.count == 24)
    #expect(text == String(text.sorted { $0.unicodeScalars.first! < $1.unicodeScalars.first! }))
  }

  @Test(arguments: [1, 5, 24, 25, 48])
  func `text after a sparkline stays on its line while samples arrive`(count: Int) {
    let row = ScreenNode.row(
      .text("60/s"), ScreenNode(kind: .sparkline, samples: (0..<count).map(Double.init)),
      .text("most by ann (4)"))
    #expect(texts(row, columns: 40).map { $0.hasSuffix("most by ann (4)") } == [false, true])
    #expect(texts(row, .plain).joined().hasSuffix("  most by ann (4)"))
  }

  @Test(
    arguments: [
      ([2, 7, 8, 9], ["h ", "Kappa", " ", "!"]), ([0, 9], ["h Kappa !"]),
      // A server should not send these ranges.
      ([7, 2, 8, 9, 3, 4], ["h Kappa ", "!"]), ([8, 10], ["h Kappa !"]), ([-1, 3], ["h Kappa !"]),
      ([0], ["h Kappa !"]), ([], ["h Kappa !"]),
    ] as [([Int], [String])])
  func `highlighted ranges are drawn in another style and do not change the text`(
    marks: [Int], parts: [String]
  ) {
    var node = ScreenNode.text("h Kappa !")
    node.marks = marks
    let lines = NodeDrawing(columns: 60).lines(node)
    #expect(lines.map(\.text) == ["h Kappa !"])
    #expect(lines[0].parts.map(\.text) == parts)
    #expect(texts(node, .plain) == ["h Kappa !"])
    node.text = "h K\u{1B}ppa !"
    #expect(!texts(node)[0].unicodeScalars.contains("\u{1B}"))
  }

  @Test func `a row of a list reads like a sentence, and is broken at spaces`() {
    let list = ScreenNode(
      kind: .list, parts: [.row(.text("ann:", .person), .text("one two three four five six"))])
    #expect(texts(list, columns: 20) == ["ann: one two three", "  four five six"])
  }

  @Test func `a name follows its badge, and has the same colour with any remark after it`() {
    func style(_ node: ScreenNode) -> TextStyle? {
      NodeDrawing(columns: 60).lines(node).first?.parts.first { $0.text.hasPrefix("ann") }?.style
    }
    var ann = ScreenNode.text("ann", .person)
    ann.standing = "mod"
    ann.detail = "with 5 bits:"
    #expect(texts(ann) == ["[mod] ann with 5 bits:"])
    #expect(texts(ann, .plain) == ["[mod] ann with 5 bits:"])
    // A name that looks like a badge is drawn as a name.
    let parts = NodeDrawing(columns: 60).lines(ann)[0].parts
    #expect(parts.first?.style.isReversed == true)
    let liar = ScreenNode.text("[mod] ann", .person)
    #expect(NodeDrawing(columns: 60).lines(liar)[0].parts.allSatisfy { !$0.style.isReversed })
    #expect(style(ann) == style(.text("ann:", .person)))
    #expect(style(ann) == style(.text("ann", .person)))
    ann.color = "#1E90FF"
    #expect(style(ann)?.shade != style(.text("ann", .person))?.shade)
    #expect(style(ann)?.color == style(.text("ann", .person))?.color)
    ann.color = "no colour"
    #expect(style(ann) == style(.text("ann", .person)))
  }

  @Test(
    arguments: [0, 0x0000FF, 0x00FF00, 0xFF0000, 0xFFFF00, 0xFFFFFF, 0x1E90FF, 0x8A2BE2] as [UInt32]
  )
  func `a chosen colour is readable on black and on white`(rgb: UInt32) {
    func luminance(_ shade: TextStyle.Shade) -> Double {
      zip([0.2126, 0.7152, 0.0722], [shade.red, shade.green, shade.blue]).reduce(0) {
        let part = Double($1.1) / 255
        return $0 + $1.0 * (part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4))
      }
    }
    let shade = TextStyle.Shade(
      red: UInt8(rgb >> 16), green: UInt8(rgb >> 8 & 0xFF), blue: UInt8(rgb & 0xFF))
    let own = luminance(shade.readable)
    #expect((own + 0.05) / 0.05 >= 4.5 && 1.05 / (own + 0.05) >= 3, "\(own)")
  }

  @Test func `untrusted text is sanitized in every kind of node`() {
    let evil = "\u{1B}[2J\u{202E}"
    let nodes: [ScreenNode] = [
      .text(evil), ScreenNode(kind: .badge, text: evil), .gauge(evil, 1, evil),
      ScreenNode(kind: .panel, text: evil),
      ScreenNode(
        kind: .table, columns: [ScreenColumn(title: evil, alignment: .left)],
        parts: [.row(.text(evil))]),
    ]
    for node in nodes {
      for form in [NodeDrawing.Form.full, .compact, .plain] {
        let text = texts(node, form).joined()
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"), "\(node.kind)")
      }
    }
  }
}

@Suite struct ScreenPartsTests {
  @Test func `a view tree is cut where it contains itself or lacks a view`() {
    var screen = ScreenReport.full
    screen.views["2"]?.output = ScreenNode(kind: .child, view: 1)
    screen.views["3"] = nil
    #expect(ScreenParts(screen).panes.map(\.name).contains("recorder"))
    screen.root = 77
    #expect(ScreenParts(screen).panes.isEmpty)
  }

  @Test func `panes are ordered by priority, and panes that were not requested are left out`() {
    #expect(
      ScreenParts(.full).panes.map(\.name) == ["header", "chat", "stats", "control", "recorder"])
    #expect(ScreenParts(.full, shown: ["control"]).panes.map(\.name) == ["control"])
  }
}

@Suite struct ScreenTextTests {
  @Test func `show prints all panes under their titles, the longest pane last`() {
    #expect(
      ScreenText.lines(.full, columns: 80) == [
        "main  [LIVE]", "", "Stream", "  Sunday cooking", "  4:12 on the air  3 viewers", "",
        "Statistics", "  good", "             now   most", "  bitrate  4,500  5,000  ▁▅█",
        "  frames    59.9   60.0", "", "Controls", "  volume ████████████░░░░░░░░░░░░ 50%",
        "  zoom   █░░░░░░░░░░░░░░░░░░░░░░░  5% dragged", "", "Recorder", "  idle", "", "Chat",
        "  2,500 messages", "  名前: text 0", "  名前: text 1", "  名前: hi\u{FFFD}[2J", "",
        "10 events = 7 applied + 1 coalesced + 1 rejected + 1 pending", "5 actions, 3 frames",
      ])
  }

  @Test func `show can print a single part, and says so if the part has no content`() {
    let text = ScreenText.lines(.full, shown: ["recorder", "poll"], columns: 80)
    #expect(
      text.prefix(6) == ["main  [LIVE]", "", "Recorder", "  idle", "", "poll: nothing to show"])
  }

  @Test(arguments: [100, 60, 20, 3, 1])
  func `the text of show fits the width of the terminal`(columns: Int) {
    let lines = ScreenText.lines(.made(chat: .messages(0..<50)), columns: columns)
    #expect(lines.allSatisfy { TerminalText.width($0) <= columns })
  }
}

@Suite struct ScreenInboxTests {
  @Test func `updates stay in order of arrival, and a newer screen replaces an older one`() {
    let inbox = ScreenInbox<String, Never>()
    inbox.post("an old screen")
    inbox.post("first outcome", from: -5)
    inbox.post("second outcome", from: -6)
    inbox.post("a new screen")
    #expect(
      inbox.removeAll().updates.map(\.update) == [
        "first outcome", "second outcome", "a new screen",
      ])
    #expect(inbox.removeAll().updates.isEmpty)
  }
}

@Suite struct HostScreenTests {
  private func model(_ screen: ScreenReport, rooms: [String] = ["main"]) -> HostScreenModel {
    var model = HostScreenModel(rooms: rooms)
    for index in rooms.indices { model.apply(.screen(room: rooms[index], screen, at: 0)) }
    return model
  }

  private func press(_ model: inout HostScreenModel, _ keys: Key...) {
    for key in keys {
      let goesOn = model.press(key)
      #expect(goesOn)
    }
  }

  @Test(arguments: [(100, 30), (60, 20)])
  func `watch shows all panes with their important content`(columns: Int, rows: Int) {
    let text = lines(model(.full).picture(columns: columns, rows: rows)).joined(separator: "\n")
    for part in [
      "Stream", "Chat", "Statistics", "Controls", "Recorder", "LIVE", "3 viewers", "4,500",
      "volume", "50%", "idle", "名前: text 1", "10 events", "q quit",
    ] { #expect(text.contains(part), "\(part)") }
  }

  @Test(arguments: [(20, 5), (30, 12), (60, 20), (100, 30), (240, 70), (8, 3)])
  func `every terminal size produces a picture of this size`(columns: Int, rows: Int) {
    let picture = model(.made(chat: .messages(0..<60))).picture(columns: columns, rows: rows)
    #expect((picture.columns, picture.rows) == (columns, rows))
    #expect(lines(picture).allSatisfy { TerminalText.width($0) <= columns })
  }

  @Test func `untrusted text cannot control the terminal`() {
    let text = lines(model(.full).picture(columns: 100, rows: 30)).joined()
    #expect(text.contains("名前: hi\u{FFFD}[2J"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test func `the space of a pane without content is given to other panes`() {
    func chatRows(_ screen: ScreenReport) -> Int {
      lines(model(screen).picture(columns: 40, rows: 30)).count { $0.contains("text") }
    }
    let chat = ScreenNode.messages(0..<60)
    #expect(
      chatRows(.made(chat: chat, recorder: ScreenNode(kind: .empty))) == chatRows(.made(chat: chat))
        + 2)
  }

  @Test func `a list that is scrolled back keeps its position while rows arrive`() {
    var model = model(.made(chat: .messages(0..<60)))
    for _ in 0..<10 { _ = model.press(.up) }
    let before = lines(model.picture(columns: 60, rows: 20)).filter { $0.contains("text") }
    #expect(before.last?.hasSuffix("text 49") == true)
    model.apply(.screen(room: "main", .made(chat: .messages(10..<70)), at: 0))
    let picture = lines(model.picture(columns: 60, rows: 20))
    #expect(picture.filter { $0.contains("text") } == before)
    #expect(picture.contains { $0.contains("20 newer below") })
    model.resize(columns: 60, rows: 20)
    press(&model, .home)
    let first = lines(model.picture(columns: 60, rows: 20)).filter { $0.contains("text") }
    #expect(first.first?.hasSuffix("text 0") == true && first.count == before.count)
    press(&model, .down)
    let second = lines(model.picture(columns: 60, rows: 20)).first { $0.contains("text") }
    #expect(second?.hasSuffix("text 1") == true)
    press(&model, .end)
    let end = lines(model.picture(columns: 60, rows: 20)).last { $0.contains("text") }
    #expect(end?.hasSuffix("text 69") == true)
  }

  /// At 300 messages and ten updates per second, rows would change faster than people can follow.
  @Test
  func `in a flood, rows appear together once per second; at a low rate, they appear immediately`()
  {
    var model = HostScreenModel(rooms: ["main"])
    func rows() -> [String] { lines(model.picture(columns: 60, rows: 24)) }
    var time: UInt64 = 1_000_000_000
    func post(_ end: Int) {
      model.apply(
        .screen(room: "main", .made(chat: .messages(max(0, end - 60)..<end)), at: time))
    }
    post(30)
    var before = rows()
    let height = before.count { $0.contains("text") }
    var changes: [Int] = []
    for update in 1...50 {
      time += 100_000_000
      post(30 + update * 30)
      let after = rows()
      changes.append(zip(before, after).count { $0 != $1 })
      before = after
    }
    #expect(changes.reduce(0, +) <= 6 * height, "\(changes)")
    #expect(changes.count { $0 > 0 } <= 6 && changes.contains(height))
    // The last rows of a flood are shown although no other update arrives.
    time += 1_000_000_000
    model.apply(.rooms([], at: time))
    #expect(rows().contains { $0.hasSuffix("text 1529") })
    for message in 1...5 {
      time += 500_000_000
      post(1_530 + message)
      #expect(rows().contains { $0.hasSuffix("text \(1_529 + message)") })
    }
  }

  @Test func `in a flood, figures change together once per second, but words change immediately`() {
    var model = HostScreenModel(rooms: ["main", "other"])
    var time: UInt64 = 1_000_000_000
    func text() -> String {
      lines(model.picture(columns: 130, rows: 24)).joined(separator: "\n")
    }
    func post(_ viewers: Int, _ recorder: ScreenNode = .text("idle")) {
      var screen = ScreenReport.made(
        chat: .messages(0..<3), viewers: viewers, recorder: recorder)
      screen.counters?.received = viewers
      model.apply(.screen(room: "main", screen, at: time))
    }
    post(100)
    #expect(text().contains("100 viewers"))
    var seen: [String] = []
    for update in 1...40 {
      time += 100_000_000
      post(100 + update)
      if seen.last != text() { seen.append(text()) }
      // The figures are consistent with each other.
      let viewers = 100 + [1, 11, 21, 31].last { $0 <= update }!
      #expect(text().contains("\(viewers) viewers") && text().contains("\(viewers) events"))
    }
    #expect(seen.count == 4)
    post(140, .text("failed", .bad))
    #expect(text().contains("failed") && !text().contains("140 viewers"))
    post(140, .gauge("done", 0.41, "41%"))
    #expect(text().contains("41%"))
    post(140, .gauge("done", 0.62, "62%"))
    #expect(text().contains("41%"))
    // Levels that users move follow immediately.
    func slider(_ value: Double) -> ScreenNode {
      var slider = ScreenNode.gauge("zoom", value, "\(Int(value * 100))%")
      slider.acts = [ScreenAct(label: "set", method: "SetControl", parameters: [:], input: .level)]
      return slider
    }
    for value in [0.25, 0.75, 0.125] {
      post(140, slider(value))
      #expect(text().contains("\(Int(value * 100))%"))
    }
    // An update of another room also shows the last figures of a flood.
    time += 1_000_000_000
    model.apply(.screen(room: "other", .full, at: time))
    #expect(text().contains("140 viewers"))
  }

  @Test func `a list is shown from its end after its filter has changed`() {
    var model = model(.made(chat: .messages(0..<60)))
    for _ in 0..<10 { _ = model.press(.up) }
    model.apply(.screen(room: "main", .made(chat: .messages(3..<5, scrolling: "filtered")), at: 0))
    let text = lines(model.picture(columns: 60, rows: 20)).joined()
    #expect(text.contains("text 4") && !text.contains("text 49") && !text.contains("newer below"))
  }

  @Test func `a paused screen does not change, and shows the newest state after it continues`() {
    var model = model(.made(chat: .messages(0..<1)))
    press(&model, .character(" "))
    for last in 2...4 {
      model.apply(.screen(room: "main", .made(chat: .messages(0..<last)), at: 0))
    }
    func text() -> String { lines(model.picture(columns: 60, rows: 20)).joined(separator: "\n") }
    #expect(text().contains("text 0") && !text().contains("text 1") && text().contains("PAUSED"))
    press(&model, .character(" "))
    #expect(text().contains("text 3") && !text().contains("PAUSED"))
  }

  @Test func `a pane is zoomed to the whole screen and restored`() {
    var model = model(.full)
    press(&model, .character("4"), .enter)
    let zoomed = lines(model.picture(columns: 60, rows: 20))
    #expect(zoomed[1].hasPrefix("━ Controls ━"))
    #expect(!zoomed.contains { $0.contains("Recorder") })
    press(&model, .tab)
    #expect(lines(model.picture(columns: 60, rows: 20))[1].hasPrefix("━ Recorder ━"))
    press(&model, .escape)
    #expect(lines(model.picture(columns: 60, rows: 20)).contains { $0.contains("─ Chat ─") })
  }

  @Test func `the help page lists every key, and any key closes it`() {
    var model = model(.full)
    press(&model, .character("?"))
    let help = lines(model.picture(columns: 60, rows: 20)).joined(separator: "\n")
    for key in ["q,", "Tab", "Up", "Page Up", "Home", "Enter", "Space"] {
      #expect(help.contains(key), "\(key)")
    }
    press(&model, .down)
    #expect(lines(model.picture(columns: 60, rows: 20)).joined().contains("Recorder"))
    let goesOn = model.press(.character("q"))
    #expect(!goesOn)
  }

  @Test func `two rooms are side by side if the terminal is wide enough, otherwise one at a time`()
  {
    func panes(_ text: String) -> Int { text.split(separator: " Recorder ").count - 1 }
    var model = model(.full, rooms: ["main", "other"])
    let wide = lines(model.picture(columns: 130, rows: 30)).joined(separator: "\n")
    #expect(panes(wide) == 2)
    let narrow = lines(model.picture(columns: 100, rows: 30)).joined(separator: "\n")
    #expect(panes(narrow) == 1)
    #expect(narrow.contains(" main  other "))
    press(&model, .right, .right, .left)
  }

  @Test func `without a UTF-8 locale, lines and blocks are ASCII`() {
    let picture = model(.made(chat: .messages(0..<2) { "text \($0)" })).picture(
      columns: 100, rows: 30)
    let characters = Set(lines(picture.ascii).joined()).subtracting("名前")
    #expect(characters.filter { !$0.isASCII }.isEmpty)
  }
}
