import ControlInterface
import ControlTestSupport
import LiveEvents
import TerminalScreen
import TerminalTestSupport
import Testing

@Suite struct TopTests {
  private func sample(seconds: UInt64, _ rooms: [(String, Int)]) async throws -> TopSample {
    TopSample(
      time: seconds * 1_000_000_000, status: try await FakeService().getStatus(),
      rooms: rooms.map { name, received in
        RoomSummary(
          room: name, phase: .live, viewers: 1,
          counters: Counters(received: received, applied: received))
      },
      views: Dictionary(
        uniqueKeysWithValues: rooms.map { name, received in
          (
            name,
            [
              "ChatView": ViewReport(
                evaluations: received / 10, avoidable: 1, totalMicroseconds: received * 10,
                maximumMicroseconds: 50)
            ]
          )
        }))
  }

  @Test func `top computes rates from two consecutive samples`() async throws {
    let report = try await sample(seconds: 12, [("a", 300), ("b", 50), ("c", 7)])
      .report(since: sample(seconds: 10, [("a", 100), ("b", 90)]))
    #expect(report.rooms.map(\.eventsPerSecond) == [100, nil, nil])
    let chat = try #require(report.views.first { $0.room == "a" })
    #expect(chat.evaluationsPerSecond == 10)
    // The lane was busy for 2,000 µs in 2 s.
    #expect(chat.loadPercent == 0.1)
    #expect(chat.meanMicroseconds == 100)
    let first = try await sample(seconds: 1, [("a", 1)]).report(since: nil)
    #expect(first.rooms.map(\.eventsPerSecond) == [nil])
  }

  @Test func `the tables of top can be sorted by every column, in both directions`() async throws {
    let report = try await sample(seconds: 12, [("a", 300), ("b", 50), ("c", 700)])
      .report(since: sample(seconds: 10, [("a", 100), ("b", 0), ("c", 699)]))
    func rooms(_ column: RoomColumn, _ isReversed: Bool = false) -> [String] {
      TopOrder(rooms: column, isReversed: isReversed).sorted(report).rooms.map(\.room)
    }
    #expect(rooms(.rate) == ["a", "b", "c"])
    #expect(rooms(.received) == ["c", "a", "b"])
    #expect(rooms(.received, true) == ["b", "a", "c"])
    #expect(rooms(.room, true) == ["c", "b", "a"])
    // Equal rows are sorted by name in either direction.
    #expect(rooms(.phase) == ["a", "b", "c"] && rooms(.viewers, true) == ["a", "b", "c"])
    for column in ViewColumn.allCases {
      #expect(TopOrder(views: column).sorted(report).views.count == 3)
    }
    #expect(TopOrder(views: .evaluations).sorted(report).views.map(\.room) == ["c", "a", "b"])
  }

  @Test func `the screen of top sorts, scrolls and lists its keys`() async throws {
    var model = TopScreenModel(TopOrder())
    let many = (0..<50).map { ("room\($0 < 10 ? "0" : "")\($0)", $0) }
    model.apply(.report(try await sample(seconds: 1, many).report(since: nil)))
    func text() -> [String] {
      let picture = model.picture(columns: 80, rows: 24)
      return (0..<24).map { picture.text(row: $0) }
    }
    #expect(text()[2].contains("EVENTS/S*"))
    #expect(text()[3].contains("room49"))
    #expect(text().contains { $0.contains("VIEW") && $0.contains("LOAD*") })
    func press(_ key: Key) -> Bool { model.press(key) }
    #expect(press(.character("s")))
    #expect(text()[2].contains("RECEIVED*"))
    #expect(press(.character("r")) && text()[3].contains("room00"))
    #expect(press(.pageDown) && text()[3].contains("room10"))
    #expect(press(.tab) && press(.character("s")))
    #expect(model.order.views == .mean)
    #expect(press(.character("?")) && text().contains { $0.contains("sort by") })
    #expect(text().contains { $0.contains("AVOIDABLE: evaluations that changed nothing") })
    #expect(press(.character("x")) && !press(.character("q")))
  }

  @Test func `Enter in top watches the room of the selected row, also in the table of views`()
    async throws
  {
    let report = try await sample(seconds: 12, [("a", 300), ("b", 50), ("c", 700)])
      .report(since: sample(seconds: 10, [("a", 100), ("b", 0), ("c", 699)]))
    func chosen(_ keys: Key...) -> String? {
      var model = TopScreenModel(TopOrder())
      model.apply(.report(report))
      for key in keys where !model.press(key) { break }
      return model.chosen
    }
    #expect(chosen(.enter) == "a" && chosen(.down, .enter) == "b")
    #expect(chosen(.end, .enter) == "c" && chosen(.end, .up, .up, .up, .enter) == "a")
    #expect(chosen(.tab, .enter) == "a" && chosen(.character("q")) == nil)
    var model = TopScreenModel(TopOrder())
    let stays = model.press(.enter)
    #expect(stays && model.chosen == nil)
    model.apply(.report(report))
    _ = model.press(.down)
    let picture = model.picture(columns: 80, rows: 24)
    let reversed = (0..<24).filter { picture[$0, 0].style.isReversed }
    #expect(reversed.count == 1 && picture.text(row: reversed.first ?? 0).hasPrefix("b "))
  }
}

@Suite struct TextTableTests {
  private var table: TextTable {
    var table = TextTable([("NAME", .left), ("COUNT", .right), ("WHY", .left)])
    table.append(["a name that is rather long", "1,234,567", "and a long reason for it all"])
    return table
  }

  @Test(arguments: [10, 20, 30, 40, 60, 200])
  func `a table of top fits the terminal`(columns: Int) {
    #expect(table.lines(columns: columns).allSatisfy { TerminalText.width($0) <= columns })
  }

  @Test func `a narrow table shortens text before it cuts columns of numbers`() {
    #expect(
      table.lines(columns: 40) == [
        "NAME             COUNT  WHY", "a name that…  1,234,567  and a long re…",
      ] || table.lines(columns: 40)[1].contains("1,234,567"))
    #expect(table.lines(columns: 200) == table.lines)
  }
}
