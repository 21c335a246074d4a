import ControlInterface
import Foundation
import Testing

@Suite(.serialized)
struct RecordingTests {
  static let recording = repositoryFile("config/recordings/chat-burst.irc.gz")

  private func expectTotals(_ room: [String: Any]) throws {
    let counters = try #require(room["counters"] as? [String: Int])
    #expect(counters["received"] == 5_000)
    #expect(counters["rejected"] == 0)
    #expect(counters["pending"] == 0)
    #expect((counters["applied"] ?? 0) + (counters["coalesced"] ?? 0) == 5_000)
    let features = try #require(room["features"] as? [String: Any])
    let chat = try #require(features["chat"] as? [String: Any])
    #expect(chat["total"] as? Int == 4_933)
    #expect(chat["moderations"] as? Int == 58)
    #expect(chat["notices"] as? Int == 9)
    #expect(chat["chatters"] as? Int == 1_208)
    let busiest = try #require(chat["busiestSecond"] as? [String: Int])
    #expect(busiest == ["byClock": 40, "sliding": 41])
  }

  @Test func `the bundled recording at full speed gives its totals and the same frames each time`()
    async throws
  {
    var pictures: [String] = []
    for _ in 0..<2 {
      let daemon = try RunningDaemon()
      // Ask immediately: after a period without events, a room's clock follows the machine's clock.
      let report = try await daemon.withControl { control in
        let ingest = try daemon.ctl("ingest", Self.recording, "--speed", "max", "--json=short")
        #expect(ingest.status == 0, "\(ingest.diagnostics)")
        #expect(try ingest.json()["received"] as? Int == 5_000)
        return try await control.getRoom("examplehost")
      }
      let evaluated = report.views.mapValues(\.evaluations).sorted { $0.key < $1.key }
      pictures.append("\(report.actions) \(report.frames) \(evaluated)")
      let show = try daemon.ctl("show", "examplehost", "--json=short")
      #expect(show.status == 0)
      let room = try show.json()
      try expectTotals(room)
      #expect((room["actions"] as? Int ?? 0) > 0)
      #expect((room["frames"] as? Int ?? 0) > 0)
      let evaluations = (room["views"] as? [String: [String: Int]] ?? [:])
        .mapValues { $0["evaluations"] ?? 0 }
      #expect((evaluations["ChatView"] ?? 0) > 1)
      #expect(daemon.stop() == 0)
    }
    #expect(pictures[0] == pictures[1])
  }

  @Test
  func `the demo ends with a summary that shows the simulated host's room separately`()
    throws
  {
    let outcome = try run("livehostctl", ["demo", "--once", Self.recording, "--json=short"])
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    let text = try run("livehostctl", ["demo", "--once", Self.recording])
    #expect(text.status == 0)
    #expect(text.output.contains("room main"))
    let lines = text.output.components(separatedBy: "\n")
    let figures = try Self.summaryInREADME()
    #expect(figures.count == 10)
    for figure in figures { #expect(lines.contains(figure), "\(figure) is not in\n\(text.output)") }
  }

  /// Returns the figures of the summary in the README.
  private static func summaryInREADME() throws -> [String] {
    try String(contentsOfFile: repositoryFile("README.md"), encoding: .utf8)
      .components(separatedBy: "\n")
      .drop { !$0.hasPrefix("    Recording: room") }.dropFirst()
      .prefix { !$0.isEmpty }
      .map { String($0.dropFirst(4)) }
  }
}
