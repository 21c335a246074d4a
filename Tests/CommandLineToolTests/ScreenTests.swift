import CommandLineTool
import ControlInterface
import ControlTestSupport
import Testing

private func room(messages: Int = 0, from first: Int = 0) -> RoomReport {
  var room = RoomReport.full
  room.features.chat?.filter = nil
  room.features.chat?.filtered = nil
  room.features.chat?.messages = (first..<first + messages).map {
    ChatMessageReport(
      id: "\($0)", user: UserReport(id: "u\($0 % 7)", name: "名前"), text: "日本語 text \($0)",
      timestamp: 0)
  }
  return room
}

private func lines(_ grid: CellGrid) -> [String] { (0..<grid.rows).map { grid.text(row: $0) } }

@Suite struct PaneLayoutTests {
  @Test(arguments: [(100, 30), (60, 20), (84, 18), (44, 14), (200, 60), (43, 30)])
  func `All six panes have a place, and none covers another`(columns: Int, rows: Int) {
    let places = PaneLayout(Set(Feature.allCases), columns: columns, rows: rows).places
    #expect(Set(places.map(\.feature)) == Set(Feature.allCases))
    var covered = Set<Int>()
    for place in places {
      #expect(place.rows >= 2 && place.columns >= 20)
      for row in place.row..<place.row + place.rows {
        for column in place.column..<place.column + place.columns {
          #expect(row < rows && column < columns)
          #expect(covered.insert(row * 1_000 + column).inserted, "\(place.feature)")
        }
      }
    }
  }

  @Test func `Where there is no room for all, the chat and the header stay longest`() {
    let places = PaneLayout(Set(Feature.allCases), columns: 40, rows: 7).places
    #expect(places.map(\.feature) == [.header, .chat])
    #expect(PaneLayout([.recorder], columns: 40, rows: 7).places.map(\.rows) == [7])
  }
}

@Suite struct ChatHistoryTests {
  @Test func `Messages that the daemon no longer reports are kept, and numbers stay`() {
    var history = ChatHistory()
    for first in stride(from: 0, to: 100, by: 5) {
      history.merge(room(messages: 10, from: first).features.chat?.messages ?? [])
    }
    #expect(history.messages.map(\.id) == (0..<105).map(String.init))
    #expect(history.end == 105)
  }

  @Test func `A message that was taken down since is known as that`() {
    var history = ChatHistory()
    var messages = room(messages: 3).features.chat?.messages ?? []
    history.merge(messages)
    messages[1].deleted = true
    history.merge(messages)
    #expect(history.messages.map(\.deleted) == [false, true, false])
  }

  @Test func `Their number is bounded`() {
    var history = ChatHistory()
    history.merge(room(messages: 5_000).features.chat?.messages ?? [])
    #expect(history.messages.count == ChatHistory.capacity)
    #expect(history.end == 5_000)
    history.merge([])
    #expect(history.end == 5_000)
  }
}

@Suite struct HostScreenTests {
  private let titles = [
    "header", "chat", "live room stats", "control", "recorder", "waiting room",
  ]

  private func model(_ report: RoomReport, rooms: [String] = ["main"]) -> HostScreenModel {
    var model = HostScreenModel(rooms: rooms)
    for index in rooms.indices { model.update(.init(room: index, report: report)) }
    return model
  }

  private func press(_ model: inout HostScreenModel, _ keys: Key...) {
    for key in keys {
      let goesOn = model.press(key)
      #expect(goesOn)
    }
  }

  @Test(arguments: [(100, 30), (60, 20)])
  func `All six panes and what matters in them are on the screen`(columns: Int, rows: Int) {
    let text = lines(model(room(messages: 3)).picture(columns: columns, rows: rows))
      .joined(separator: "\n")
    for part in titles + [
      "LIVE", "3 viewers", "4,500", "volume", "mute on", "recording", "50%", "1 waiting",
      "2 admitted", "名前: 日本語 text 2", "10 events", "q quit",
    ] { #expect(text.contains(part), "\(part)") }
  }

  @Test(arguments: [(20, 5), (30, 12), (60, 20), (100, 30), (240, 70), (8, 3)])
  func `Every size is a picture of that size`(columns: Int, rows: Int) {
    let picture = model(room(messages: 200)).picture(columns: columns, rows: rows)
    #expect((picture.columns, picture.rows) == (columns, rows))
    #expect(lines(picture).allSatisfy { TerminalText.width($0) <= columns })
  }

  @Test func `Text of strangers cannot steer the terminal`() {
    let text = lines(model(FakeService.room).picture(columns: 100, rows: 30)).joined()
    #expect(text.contains("ann: hi\u{FFFD}[2J"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test func `The waiting room is remembered when it is gone`() {
    var report = RoomReport.full
    var model = model(report)
    report.features.waitingRoom = nil
    report.features.chat = nil
    report.features.liveRoomStats = nil
    model.update(.init(report: report))
    let text = lines(model.picture(columns: 100, rows: 30)).joined(separator: "\n")
    #expect(text.contains("over; 2 were admitted"))
    #expect(text.contains("nobody wrote yet"))
    #expect(text.contains("none while the stream is not on air"))
  }

  @Test func `Scrolled, the chat stays where it is while messages come in`() {
    var model = model(room(messages: 60))
    for _ in 0..<10 { _ = model.press(.up) }
    let before = lines(model.picture(columns: 60, rows: 20)).filter { $0.contains("text") }
    #expect(before.last?.hasSuffix("text 49") == true)
    model.update(.init(report: room(messages: 60, from: 10)))
    let picture = lines(model.picture(columns: 60, rows: 20))
    #expect(picture.filter { $0.contains("text") } == before)
    #expect(picture.contains { $0.contains("20 newer messages below") })
    press(&model, .end)
    let end = lines(model.picture(columns: 60, rows: 20)).last { $0.contains("text") }
    #expect(end?.hasSuffix("text 69") == true)
  }

  @Test func `What the host filters, marks and is told of shows in the chat's pane`() {
    var report = room(messages: 60)
    report.features.chat?.filter = ChatFilterReport(words: "song")
    report.features.chat?.filtered = [
      ChatMessageReport(
        id: "x", user: UserReport(id: "u1", name: "ann"), text: "@Ada a new song", timestamp: 0,
        mention: true)
    ]
    report.features.chat?.mentionedNames = ["Ada"]
    report.features.chat?.noticeQueue = [
      NoticeReport(
        number: 3, kind: "raid", user: UserReport(id: "u2", name: "bob"), count: 12, timestamp: 0)
    ]
    var model = model(report)
    func text() -> String { lines(model.picture(columns: 100, rows: 40)).joined(separator: "\n") }
    for part in [
      "* ann: @Ada a new song", "only with \"song\"", "marked: @Ada", "notice 3: bob raids with 12",
    ] { #expect(text().contains(part), "\(part)") }
    #expect(!text().contains("text 59"))
    report.features.chat?.filter = nil
    report.features.chat?.filtered = nil
    model.update(.init(report: report))
    #expect(text().contains("text 59"))
  }

  @Test func `A held screen stands still, and then shows the newest`() {
    var model = model(room(messages: 1))
    press(&model, .character(" "))
    for first in 1...3 { model.update(.init(report: room(messages: 1, from: first))) }
    func text() -> String { lines(model.picture(columns: 60, rows: 20)).joined(separator: "\n") }
    #expect(text().contains("text 0") && text().contains("HELD"))
    press(&model, .character(" "))
    #expect(text().contains("text 3") && !text().contains("HELD"))
  }

  @Test func `A pane fills the screen and goes back`() {
    var model = model(room())
    press(&model, .character("5"), .enter)
    let zoomed = lines(model.picture(columns: 60, rows: 20))
    #expect(zoomed[0].hasPrefix("─ recorder *"))
    #expect(!zoomed.contains { $0.contains("waiting room") })
    press(&model, .tab)
    #expect(lines(model.picture(columns: 60, rows: 20))[0].hasPrefix("─ waiting room *"))
    press(&model, .escape)
    #expect(lines(model.picture(columns: 60, rows: 20)).contains { $0.contains("─ chat") })
  }

  @Test func `Help tells every key and goes with any`() {
    var model = model(room())
    press(&model, .character("?"))
    let help = lines(model.picture(columns: 60, rows: 20)).joined(separator: "\n")
    for key in ["q,", "Tab", "Up", "Page Up", "Home", "Enter", "Space"] {
      #expect(help.contains(key), "\(key)")
    }
    press(&model, .down)
    #expect(lines(model.picture(columns: 60, rows: 20)).joined().contains("waiting room"))
    let goesOn = model.press(.character("q"))
    #expect(!goesOn)
  }

  @Test func `Two rooms stand side by side where there is room, else one by one`() {
    func panes(_ text: String) -> Int { text.split(separator: "waiting room ").count - 1 }
    var model = model(room(), rooms: ["main", "other"])
    let wide = lines(model.picture(columns: 130, rows: 30)).joined(separator: "\n")
    #expect(panes(wide) == 2)
    let narrow = lines(model.picture(columns: 100, rows: 30)).joined(separator: "\n")
    #expect(panes(narrow) == 1)
    #expect(narrow.contains(" main  other "))
    press(&model, .right)
    #expect(lines(model.picture(columns: 100, rows: 30))[0].contains("main"))
    press(&model, .right, .left)
  }
}

@Suite struct WatchScreenTests {
  private func start(
    _ terminal: EmulatedTerminal, _ daemon: FakeDaemon, _ arguments: [String] = ["watch", "main"]
  ) -> (Task<ToolStatus, Never>, Capture) {
    let capture = Capture()
    let tool = CommandLineTool(
      console: terminal.console(capture),
      surroundings: Surroundings(variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    return (Task { await tool.run(arguments) }, capture)
  }

  @Test func `Watching draws what comes, only what changed, and gives the terminal back`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 100, rows: 30)
    let (task, capture) = start(terminal, daemon, ["watch", "main", "--rate", "1000"])
    daemon.service.show(room(messages: 5))
    await terminal.wait { $0.contains { $0.contains("text 4") } }
    let whole = terminal.bytesDrawn
    var next = room(messages: 5)
    next.features.header?.viewers = 9
    daemon.service.show(next)
    await terminal.wait { $0.contains { $0.contains("9 viewers") } }
    #expect(terminal.bytesDrawn - whole < 20)
    terminal.resize(columns: 60, rows: 20)
    await terminal.wait { $0.count == 20 && $0.contains { $0.contains("waiting room") } }
    terminal.type("?")
    await terminal.wait { $0.contains { $0.contains("Page Up") } }
    terminal.type("q")
    #expect(await task.value == .done)
    #expect(terminal.ends == 1)
    #expect(terminal.unknown == [])
    #expect(capture.text.isEmpty && capture.diagnostics.isEmpty)
    await daemon.stop()
  }

  @Test func `Ctrl-C gives the terminal back`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.show(room())
    await terminal.wait { $0.contains { $0.contains("recorder") } }
    task.cancel()
    #expect(await task.value == .interrupted)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics.isEmpty)
    await daemon.stop()
  }

  @Test func `A daemon that goes away is told of, after the terminal is given back`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.show(room())
    await terminal.wait { $0.contains { $0.contains("recorder") } }
    await daemon.stop()
    #expect(await task.value == .failed)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics == "livehostctl: the daemon stopped\n")
  }

  @Test func `A room that is closed is the end, but no failure`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.show(room())
    await terminal.wait { $0.contains { $0.contains("recorder") } }
    daemon.service.feed.finish(.noSuchRoom("main"))
    #expect(await task.value == .done)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics == "livehostctl: the room 'main' was closed\n")
    await daemon.stop()
  }
}
