import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import ControlInterface
import EncoderStatsFeature
import Foundation
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import Rooms
import TerminalScreen
import TerminalTestSupport
import Testing
import ViewGraph
import WaitingRoomFeature

/// The host's real views with content in every part, as published to monitors.
enum RealScreen {
  static func message(_ number: Int, by name: String, _ text: String) -> TimedMessage {
    TimedMessage(
      timestamp: Timestamp(number * 1_000),
      message: ChatMessage(
        id: "m\(number)", userID: "u-" + name, userName: name, text: text))
  }

  static let talk = [
    ("한국어", "안녕하세요 여러분, 오늘 방송 정말 재미있어요"), ("日本語", "こんばんは。今日も楽しみにしています"),
    ("ann", "👩‍👩‍👧 👍🏽 🇰🇷 flags and families"), ("Zoë", "combining: e\u{301} n\u{303} क्षि"),
    ("bob", "plain words, wrapped where the pane ends, at a space if there is one"),
    ("👑queen", "mixed 한글と漢字 and ASCII"),
  ]

  static func report(_ actions: [HostFeature.Action]) -> ScreenReport {
    let store = Store(
      initialState: HostFeature.State(), lane: DirectLane(), notification: .batched
    ) { HostFeature() }
    let graph = ViewGraph(HostView(), place: store.place, clock: { 0 }, read: { store.state })
    store.send(contentsOf: actions)
    store.deliverChanges()
    graph.evaluateFrame()
    var report = ScreenReport(graph)
    report.room = "main"
    report.counters = Counters(received: 1_234, applied: 1_200, coalesced: 30, rejected: 4)
    report.actions = 1_000
    report.frames = 1
    return report
  }

  /// Advances the time; people write in each second.
  private static func seconds(_ range: ClosedRange<Int>) -> [HostFeature.Action] {
    range.flatMap { second -> [HostFeature.Action] in
      let (name, text) = talk[second % talk.count]
      return [
        .header(.viewersChanged(count: 1_500 + 90 * (second % 13), peak: 2_580)),
        .liveRoomStats(.windowClosed(window(second))),
        .chat(.messages((0...second % 3).map { message(second * 3 + $0, by: name, text) })),
        .ticked(at: Timestamp(second * 1_000)),
      ]
    }
  }

  private static func window(_ second: Int) -> StatisticsWindow {
    var bitrate = Summary(6_000 + Double(second % 7) * 111)
    bitrate.add(5_800)
    return StatisticsWindow(
      bitrate: bitrate, frameRate: Summary(59.94), droppedFrames: Summary(2),
      roundTrip: Summary(180 + Double(second % 5)), congestion: Summary(0.031), samples: 2)
  }

  /// A screen on the air that offers every host action on a chat.
  static let onAir = report(
    [
      .header(.titleChanged("일요일 요리 방송 🍲 Sunday cooking")),
      .waitingRoom(.changed([.joined(Person(id: "7", name: "Kim"))])),
      .waitingRoom(.changed([.admitted(Person(id: "7", name: "Kim"))])),
      .stream(.live, at: 0), .header(.reacted(2_046)),
      .control(.set(control: "volume", value: 0.57)), .control(.set(control: "줌", value: 0.05)),
      .control(.sliderBegan(control: "beauty", value: 0.31)),
      .control(.tapped(control: "camera", on: true)),
      .control(.tapped(control: "subtitles", on: false)),
      .control(.meterRead(input: "microphone", levels: [0.2, 0.83])),
      .recorder(.stateChanged(.recording)),
      .recorder(.progressed(RecorderProgress(bytes: 12_163_482, durationMilliseconds: 754_000))),
      .recorder(.own(.restarted(isRecording: true))),
      .recorder(
        .ownProgressed(
          RecorderProgress(bytes: 2_048, durationMilliseconds: 2_000, done: 1, total: 4))),
      .chat(.modesChanged(ChatModes(slowSeconds: 30, subscribersOnly: true))),
      .chat(
        .notice(
          ChatNotice(kind: .raid, user: Person(id: "9", name: "Yuki"), count: 1_200), at: 1_000)),
      .chat(.reading(.mentionedNamesChanged(["ann"]))),
      .poll(
        .began(
          PollQuestion(
            id: "p", title: "다음 노래는? 次の曲は? 🎵", options: ["사랑의 노래", "さくら 🌸", "karaoke"],
            endsAt: 254_000), at: 0)),
      .poll(.voted([1_204, 988, 41])),
    ] + seconds(1...200) + [.control(.tapped(control: ControlFeature.endStream, on: nil))])

  /// A screen before the stream, with a filter and an open thread in the chat.
  static let before = report(
    [
      .waitingRoom(
        .changed((1...11).map { .joined(Person(id: Text("id\($0)"), name: Text("이름\($0)"))) })),
      .waitingRoom(.changed([.admitted(Person(id: "id1", name: "이름1"))])),
      .waitingRoom(.capacityChanged(20)), .waitingRoom(.scheduled(252_000, at: 0)),
      .waitingRoom(.paceChanged(2.5, at: 0)),
      .chat(.modesChanged(ChatModes(emoteOnly: true, followersOnlyMinutes: 10, uniqueOnly: true))),
      .chat(.messages([message(1, by: "ann", "a song?"), message(2, by: "bob", "no")])),
      .chat(.reading(.filterChanged(ChatFilter(words: "song")))),
      .chat(.reading(.threadOpened(messageID: "m1"))), .chat(.reading(.scrolledBack)),
      .chat(.messages([message(3, by: "Kim", "this song!")])),
      .chat(.messageDeleted("m2", at: 4_000)),
      .poll(.began(PollQuestion(id: "p", title: "메뉴?", options: ["김치", "ラーメン"]), at: 0)),
      .poll(.voted([1, 3])), .poll(.ended(winner: 1)),
    ])

  static let all = [before, onAir]
}

extension ScreenNode {
  /// All texts, in reading order.
  var texts: [String] {
    let own = kind == .panel ? [] : [standing, text, detail].compactMap(\.self)
    return own + (columns ?? []).map(\.title) + (parts ?? []).flatMap(\.texts)
  }

  /// The host actions of the node, which are drawn if there is no other content.
  var offers: [String] { (acts ?? []).map(\.label) + (parts ?? []).flatMap(\.offers) }
}

private func words(_ texts: [String]) -> [String] {
  let drawing = Set("█░▁▂▃▄▅▆▇─━│┃┬┴├┤┼[]")
  return texts.flatMap { text in
    String(text.map { drawing.contains($0) ? " " : $0 }).split(separator: " ").map(String.init)
  }
}

@Suite struct SameScreenTests {
  @Test(arguments: RealScreen.all)
  func `show prints exactly the texts of the published view tree`(screen: ScreenReport) {
    let panes = ScreenParts(screen).panes
    #expect(panes.count >= 3)
    for pane in panes {
      let lines = ScreenText.lines(screen, shown: [pane.name], columns: 500)
      let start = lines.firstIndex(of: pane.title) ?? lines.endIndex
      let content = lines[start...].dropFirst().prefix { !$0.isEmpty }
      let texts = words(pane.content.texts)
      let isEmpty = texts.isEmpty
      #expect(
        words(Array(content)) == (isEmpty ? ["nothing", "to", "show"] : texts), "\(pane.name)")
    }
  }

  @Test(arguments: RealScreen.all)
  func `watch draws exactly the texts of the published view tree`(screen: ScreenReport) {
    for pane in ScreenParts(screen).panes {
      var model = HostScreenModel(rooms: ["main"], shown: [pane.name])
      model.apply(.screen(room: "main", screen, at: 0))
      let picture = model.picture(columns: 500, rows: 100)
      let lines = (0..<picture.rows - 1).map { picture.text(row: $0) }
      let title = lines.firstIndex { words([$0]) == words([pane.title]) } ?? 0
      let texts = pane.content.texts
      #expect(
        words(Array(lines[(title + 1)...])) == words(texts.isEmpty ? pane.content.offers : texts),
        "\(pane.name)")
    }
  }

  /// The text of the views without data: names, numbers, and texts of people.
  private static var phrases: Set<String> {
    let said = RealScreen.talk.flatMap { ["\($0.0):", $0.1] }
    let names: Set = [
      "Kim", "Kim:", "Yuki", "karaoke", "camera", "subtitles", "beauty", "volume", "microphone",
      "\"song\"",
    ]
    let texts = RealScreen.all.flatMap { screen in
      let parts = ScreenParts(screen)
      return parts.headline.flatMap(\.texts) + parts.panes.flatMap { $0.content.texts }
    }
    var phrases: Set<String> = []
    for text in texts {
      let text = said.reduce(text) { $0.replacing($1, with: " 0 ") }
      // Numbers and data split a text into phrases that a source file could contain.
      var phrase: [String] = []
      for word in text.split(separator: " ").map(String.init) + ["0"] {
        if names.contains(word) || word.contains(where: \.isNumber) || !word.allSatisfy(\.isASCII) {
          if !phrase.isEmpty { phrases.insert(phrase.joined(separator: " ")) }
          phrase = []
        } else {
          phrase.append(word)
        }
      }
    }
    return phrases
  }

  @Test func `the command line's sources repeat none of the texts in the daemon's views`()
    throws
  {
    let phrases = Self.phrases
    for known in ["on the air", "fair because of round trip", "new since scrolled back", "bitrate"]
    {
      #expect(phrases.contains(known), "the test has something to find: \(known)")
    }
    let control = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/Control").standardized
    let files = try ["CommandLineTool", "TerminalScreen"].flatMap { module in
      try #require(
        FileManager.default.enumerator(
          at: control.appendingPathComponent(module), includingPropertiesForKeys: nil)
      ).compactMap { $0 as? URL }
    }
    var count = 0
    for file in files where file.pathExtension == "swift" {
      // Comments may mention the parts.
      let source = try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n").filter { !$0.drop(while: { $0 == " " }).hasPrefix("//") }
        .joined(separator: "\n")
      count += 1
      for phrase in phrases {
        // A single word may have other meanings in the source, but not as a whole string literal.
        let isThere =
          phrase.contains(" ") ? source.contains(phrase) : source.contains("\"\(phrase)\"")
        #expect(!isThere || Self.common.contains(phrase), "\(file.lastPathComponent): \(phrase)")
      }
    }
    #expect(count > 50)
  }

  /// Texts of the command line tool that happen to equal phrases of views.
  private static let common: Set<String> = [
    "%", "*", ">", "?", "/s", "by", "deleted", "frames", "message", "messages by", "more", "ms",
    "notice", "now", "off", "on", "only with", "people", "recording", "s", "viewers",
  ]
}

/// Screens are stored as a terminal shows them, for review when they change.
/// `LIVEHOST_WRITE_GOLDEN=1` writes them.
@Suite(.serialized) struct ScreenCaptureTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Screens")

  private static func picture(_ screen: ScreenReport, _ columns: Int, _ rows: Int) -> CellGrid {
    var model = HostScreenModel(rooms: ["main"])
    model.apply(.screen(room: "main", screen, at: 0))
    return model.picture(columns: columns, rows: rows)
  }

  @Test(arguments: [(160, 48), (100, 30), (80, 24), (60, 20)], [true, false])
  func `a drawn screen equals the screen stored in a file`(
    size: (columns: Int, rows: Int), isOnAir: Bool
  ) throws {
    let screen = isOnAir ? RealScreen.onAir : RealScreen.before
    let picture = Self.picture(screen, size.columns, size.rows)
    let lines = (0..<picture.rows).map { picture.text(row: $0) }
    let text = lines.joined(separator: "\n") + "\n"
    let name = "\(isOnAir ? "on-air" : "before")-\(size.columns)x\(size.rows).txt"
    let file = Self.directory.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["LIVEHOST_WRITE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(
        at: Self.directory, withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let stored = try? String(contentsOf: file, encoding: .utf8)
    #expect(text == stored, "\(name) has changed")
  }

  /// Uses an emulated terminal with cells, because text alone does not show columns.
  @Test(arguments: [(160, 48), (100, 30), (80, 24), (60, 20)])
  func `columns of a drawn screen are aligned, and no character is cut in half`(
    size: (columns: Int, rows: Int)
  ) {
    let picture = Self.picture(RealScreen.onAir, size.columns, size.rows)
    for row in 0..<picture.rows {
      for column in 0..<picture.columns {
        let cell = picture[row, column]
        let isSecondHalf = cell.width == 0
        #expect(!isSecondHalf || column > 0 && picture[row, column - 1].width == 2)
        if cell.width == 2 { #expect(column + 1 < picture.columns) }
      }
      #expect(TerminalText.width(picture.text(row: row)) <= picture.columns)
    }
    // The divider between panes has the same column in every row.
    let dividers = (1..<picture.rows - 1).compactMap { row in
      (0..<picture.columns).first { "│┬├".contains(picture[row, $0].character) }
    }
    #expect(Set(dividers).count == 1)
    let text = (0..<picture.rows).map { picture.text(row: $0) }.joined()
    #expect(text.contains(where: { "▁▂▃▄▅▆▇".contains($0) }))
    // With few columns, gauges are drawn as figures.
    #expect(text.contains("░") == (size.columns >= 80))
    #expect(picture.ascii.row(1).allSatisfy { $0.character.isASCII })
  }
}
