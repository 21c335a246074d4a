import ChatFeature
import ControlInterface
import ControlTestSupport
import EncoderStatsFeature
import Foundation
import HostFeature
import LiveEvents
import RateLimiting
import RecorderFeature
import TerminalScreen
import TerminalTestSupport
import Testing
import Wording

/// Problems that people met when they tried the program.
@Suite struct UseTests {
  private func lines(_ screen: ScreenReport, _ columns: Int, _ rows: Int) -> [String] {
    var model = HostScreenModel(rooms: ["main"])
    model.apply(.screen(room: "main", screen, at: 0))
    let picture = model.picture(columns: columns, rows: rows)
    return (0..<picture.rows).map { picture.text(row: $0) }
  }

  private static let chat: [HostFeature.Action] = (1...60).map {
    .chat(.messages([RealScreen.message($0, by: "ann", "line \($0)")]))
  }

  @Test(arguments: [(80, 24, 14), (160, 48, 38), (60, 20, 10)])
  func `in a room with only a chat, the chat fills the screen`(
    columns: Int, rows: Int, messages: Int
  ) {
    let lines = lines(RealScreen.report(Self.chat), columns, rows)
    let shown = lines.count { $0.hasPrefix("ann: line ") }
    // The first frame shows twelve rows, and later rows scroll in.
    #expect(shown >= min(messages, ChatView.rows), "\(lines.joined(separator: "\n"))")
    #expect(lines.allSatisfy { !$0.contains("│") }, "the chat has the full width")
  }

  private static func connection(congestion: Double) -> [HostFeature.Action] {
    [
      .stream(.live, at: 0),
      .liveRoomStats(
        .windowClosed(
          StatisticsWindow(
            bitrate: Summary(2_600), frameRate: Summary(59.9), droppedFrames: Summary(3),
            roundTrip: Summary(31), congestion: Summary(congestion), samples: 1))),
    ]
  }

  @Test(arguments: [(160, 48), (100, 30), (80, 24), (60, 20)])
  func `a connection problem is shown in words at every size`(columns: Int, rows: Int) {
    let screen = RealScreen.report(Self.chat + Self.connection(congestion: 0.62))
    let lines = lines(screen, columns, rows)
    let text = lines.joined(separator: "\n")
    for part in ["poor connection", "poor because of congestion", "dropped", "62", "bitrate"] {
      #expect(text.contains(part), "\(part)\n\(text)")
    }
    #expect(lines.allSatisfy { !$0.contains("poor") || !$0.contains(" now") })
    // Headings are aligned with their figures at the right.
    guard let head = lines.first(where: { $0.contains(" now") }),
      let row = lines.first(where: { $0.contains("bitrate ") }),
      let title = head.range(of: "now"), let figure = row.range(of: "2,600")
    else { return #expect(columns < 160) }
    #expect(
      TerminalText.width(String(head[..<title.upperBound]))
        == TerminalText.width(String(row[..<figure.upperBound])))
  }

  /// The emphasis of each text of a tree.
  private func emphases(_ node: ScreenNode) -> [String: ScreenEmphasis] {
    var all: [String: ScreenEmphasis] = [:]
    if let text = node.text, let emphasis = node.emphasis { all[text] = emphasis }
    for part in node.parts ?? [] { all.merge(emphases(part)) { first, _ in first } }
    return all
  }

  @Test func `only the figure that causes the verdict is drawn in the verdict's colour`() throws {
    for (congestion, emphasis) in [(0.62, ScreenEmphasis.bad), (0.33, .warning), (0.01, .strong)] {
      let screen = RealScreen.report(Self.connection(congestion: congestion))
      let pane = try #require(
        ScreenParts(screen).panes.first { $0.name == "liveRoomStats" })
      let found = emphases(pane.content)
      #expect(found[Format.rate(congestion * 100)] == emphasis, "\(found)")
      #expect(found["2,600"] == .strong && found["59.9"] == .strong)
    }
  }

  @Test func `the range of a measurement is shown only if its values differ`() throws {
    func text(_ bitrate: Summary) throws -> [String] {
      let screen = RealScreen.report([
        .stream(.live, at: 0),
        .liveRoomStats(.windowClosed(StatisticsWindow(bitrate: bitrate, samples: 1))),
      ])
      return ScreenText.lines(screen, shown: ["liveRoomStats"], columns: 100)
    }
    var several = Summary(6_111)
    several.add(5_800)
    #expect(try text(several).contains { $0.contains("5,800") && $0.hasSuffix("5,800 to 6,111") })
    #expect(try text(several).contains { $0.hasSuffix("range") })
    #expect(try text(Summary(6_111)).contains("  bitrate  6,111  kbit/s"))
    #expect(try !text(Summary(6_111)).contains { $0.contains("range") })
  }

  @Test(arguments: [(160, 48), (80, 24), (60, 20)])
  func `an external recording is visible on every screen size`(
    columns: Int, rows: Int
  ) {
    let recorders: [HostFeature.Action] = [
      .recorder(.own(.restarted(isRecording: true))),
      .recorder(.ownProgressed(RecorderProgress(bytes: 838, durationMilliseconds: 0))),
      .recorder(.own(.restarted(isRecording: false))), .recorder(.stateChanged(.recording)),
      .recorder(.progressed(RecorderProgress(bytes: 118 << 20, durationMilliseconds: 60_000))),
    ]
    let screen = RealScreen.report(Self.chat + Self.connection(congestion: 0.01) + recorders)
    let text = lines(screen, columns, rows).joined(separator: "\n")
    for part in ["recording", "1:00", "118 MiB"] { #expect(text.contains(part), "\(text)") }
  }

  @Test func `the last line shows the counts that matter to the host`() {
    let foot = lines(RealScreen.report(Self.chat), 160, 48).last ?? ""
    #expect(foot.hasPrefix("1,234 events, 4 rejected  "), "\(foot)")
    #expect(!foot.contains("coalesced") && !foot.contains("pending"))
  }

  @Test func `a count of one uses the singular`() async throws {
    var status = try await FakeService().getStatus()
    (status.rooms, status.hangs, status.microhangs) = (1, 1, 1)
    #expect(TopText.heading(status).text.contains("; 1 room; "))
    status.rooms = 2
    #expect(TopText.heading(status).text.contains("; 2 rooms; "))
    // As in the output of `status`, a bad state is drawn in a different colour.
    for (health, color) in [(Health.ok, TextStyle.good), (.degraded, .warning), (.failing, .bad)] {
      status.health = health
      #expect(TopText.heading(status).parts.map(\.style) == [.plain, color, .plain])
    }
    for (number, text) in [(0, "0 forms"), (1, "1 form"), (2_500, "2,500 forms")] {
      #expect(Format.count(number, "form") == text)
    }
  }

  @Test func `show says so if a requested part has no content`() {
    let screen = ScreenReport.made(chat: .messages(0..<1), recorder: ScreenNode(kind: .empty))
    let text = ScreenText.lines(screen, shown: ["recorder"], columns: 80)
    #expect(text.contains("  nothing to show"))
    #expect(!ScreenText.lines(screen, columns: 80).contains("Recorder"))
  }
}
