import Foundation
import HangSimulation
import Simulation
import Testing

@Suite struct ReportTests {
  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `the JSON report of a simulation has the members that scripts rely on`() async throws {
    let outcome = try await simulateText(shortScenario) { $0.thresholds = ["hangs == 0"] }
    let report = try object(outcome.report.json)
    for name in ["version", "scenario", "seed", "parameters", "digest", "runs", "thresholds"] {
      #expect(report[name] != nil, "\(name)")
    }
    let run = try #require((report["runs"] as? [[String: Any]])?.first)
    for name in [
      "device", "variant", "events", "actions", "frames", "microhangs", "hangs", "longestMs",
      "hitchMsPerSecond", "latencyMs", "views",
    ] {
      #expect(run[name] != nil, "\(name)")
    }
    #expect(Set((run["latencyMs"] as? [String: Any] ?? [:]).keys) == ["p50", "p95", "p99", "max"])
    #expect(
      Set((run["events"] as? [String: Any] ?? [:]).keys)
        == ["received", "applied", "coalesced", "rejected", "pending"])
    let view = try #require((run["views"] as? [[String: Any]])?.first)
    for name in [
      "name", "evaluations", "avoidable", "meanMs", "selfMs", "p95Ms", "maxMs", "causes",
    ] {
      #expect(view[name] != nil, "\(name)")
    }
    let threshold = try #require((report["thresholds"] as? [[String: Any]])?.first)
    #expect(Set(threshold.keys).isSuperset(of: ["text", "value", "passed"]))
  }

  @Test func `the report page is self-contained and escapes its contents`() async throws {
    let text = shortScenario.replacing("name: short", with: "name: \"<b>&\"")
    let html = try await simulateText(text).report.html
    #expect(html.contains("&lt;b&gt;&amp;"))
    #expect(!html.contains("<b>"))
    #expect(!html.contains("http"))
    #expect(!html.contains("src="))
    #expect(html.contains("<svg"))
  }

  /// Returns the part of the page before its first section.
  private func head(_ thresholds: [String]) async throws -> String {
    let html = try await simulateText(shortScenario) { $0.thresholds = thresholds }.report.html
    return String(html[..<(try #require(html.firstRange(of: "<h2>")).lowerBound)])
  }

  @Test func `the report page starts with the verdict, in words and in colour`() async throws {
    let good = try await head(["frames > 0"])
    #expect(good.contains("<p class=\"verdict good\">The threshold is met</p>"))
    #expect(good.contains("<tr class=\"good\"><td>✓</td><td>frames &gt; 0</td>"))
    let all = try await head(["frames > 0", "actions > 0"])
    #expect(all.contains("<p class=\"verdict good\">All 2 thresholds are met</p>"))
    let bad = try await head(["frames > 0", "frames < 3 for ignored"])
    #expect(bad.contains("<p class=\"verdict bad\">1 of 2 thresholds not met</p>"))
    #expect(bad.contains("<tr class=\"bad\"><td>✗</td>"))
    #expect(bad.contains(/<td>[0-9]+ in fast, ignored; [0-9]+ in slow\+hot, ignored<\/td>/))
    // Without thresholds, the verdict names the worst run without rating it.
    let none = try await head([])
    #expect(none.contains("<p class=\"verdict\">At worst "))
    #expect(!none.contains("<table"))
  }

  @Test func `the report page shows the longest turns with their causes before the figures`()
    async throws
  {
    let report = try await simulateText(shortScenario).report
    let html = report.html
    for device in report.devices {
      let section = try #require(html.components(separatedBy: "<h2>").last { $0.hasPrefix(device) })
      let turns = try #require(section.firstRange(of: ": longest turns</h3>")).lowerBound
      #expect(turns < (try #require(section.firstRange(of: "<table")).lowerBound))
      let run = try #require(report.runs.first { $0.device == device })
      for turn in run.longestTurns.prefix(3) {
        #expect(section.contains("<li>\(turn.line.replacing(">", with: "&gt;"))</li>"))
      }
      #expect(section.contains(">10 s</text>") && section.contains("500 ms: hang</text>"))
      #expect(section.contains("<th>change</th>"))
    }
    for part in [
      "prefers-color-scheme: dark", "width=device-width", "hangs</text>",
      "tracked: microhangs</text>",
      "it reads the field",
    ] { #expect(html.contains(part), "\(part)") }
    #expect(!html.contains("ownRead") && !html.contains("firstAppearance"))
  }

  @Test func `charts and traces of a simulation show arrivals of events and times of faults`()
    async throws
  {
    let text = shortScenario.replacing(
      "variants:", with: "faults: [{kind: stall, at: 6s, for: 2s}]\nvariants:")
    let outcome = try await simulateText(text) { $0.wantsTrace = true }
    let run = try #require(outcome.report.runs.first)
    #expect(run.arrivals.reduce(0, +) == run.events.received)
    #expect(run.faultWindows.map(\.kind) == ["stall"])
    #expect(run.faultWindows[0].start == 6_000_000_000 && run.faultWindows[0].end == 8_000_000_000)
    // No event arrives during the stall, and all held events arrive at its end.
    let parts = run.arrivals.enumerated().filter { part, _ in
      (6_100_000_000..<7_900_000_000).contains(Int64(part) * run.bucket)
    }
    #expect(parts.count > 10 && parts.allSatisfy { $0.element == 0 })
    let html = outcome.report.html
    #expect(html.contains("<title>stall from 6 s to 8 s</title>"))
    #expect(html.contains("<polygon class=\"events\"") && html.contains(">events, up to "))
    let trace = try object(try #require(outcome.trace))
    let events = try #require(trace["traceEvents"] as? [[String: Any]])
    #expect(
      events.contains { $0["ph"] as? String == "C" && $0["name"] as? String == "events per second" }
    )
    #expect(events.contains { $0["cat"] as? String == "fault" && $0["name"] as? String == "stall" })
  }

  @Test func `the text report explains which views cost most`() async throws {
    let report = try await simulateText(shortScenario).report
    let run = try #require(report.runs.first)
    let costly = run.views.sorted {
      $0.selfMean * Int64($0.evaluations) > $1.selfMean * Int64($1.evaluations)
    }
    for view in costly.prefix(3) {
      #expect(report.lines.contains("  \(run.variant): why \(view.name) was evaluated"))
    }
  }

  @Test func `the line of a turn contains its start, and the line of a device contains its speed`()
    async throws
  {
    var report = try await simulateText(shortScenario).report
    var turn = try #require(report.runs.lazy.compactMap(\.longestTurns.first).first)
    (turn.start, turn.length) = (40_074_000_000, 229_300_000)
    for (name, text) in [
      ("late", "229.3 ms, late, at 40.074 s: "), ("hang", "229.3 ms hang at 40.074 s: "),
    ] {
      turn.hangClass = name
      #expect(turn.line.hasPrefix(text), "\(turn.line)")
    }
    for (slowdown, text) in [(1_000_000, "as fast as"), (2_200_000, "2.2 times as slow as")] {
      for index in report.runs.indices { report.runs[index].slowdown = Int64(slowdown) }
      #expect(report.lines.contains("\(report.devices[0]): \(text) the reference device"))
    }
  }

  @Test func `slices of a simulation's trace nest, and every arrow has a start`() async throws {
    let outcome = try await simulateText(shortScenario) { $0.wantsTrace = true }
    let trace = try object(try #require(outcome.trace))
    let events = try #require(trace["traceEvents"] as? [[String: Any]])
    var ends: [Int: [Double]] = [:]
    var overlaps = 0
    let slices = events.filter { $0["ph"] as? String == "X" }.sorted { left, right in
      let (a, b) = (left["ts"] as? Double ?? 0, right["ts"] as? Double ?? 0)
      return a != b ? a < b : (left["dur"] as? Double ?? 0) > (right["dur"] as? Double ?? 0)
    }
    for slice in slices {
      let process = try #require(slice["pid"] as? Int)
      let start = try #require(slice["ts"] as? Double)
      let end = start + (try #require(slice["dur"] as? Double))
      var open = ends[process, default: []]
      while let last = open.last, last <= start + 0.0005 { open.removeLast() }
      if let last = open.last, end > last + 0.001 { overlaps += 1 }
      open.append(end)
      ends[process] = open
    }
    #expect(overlaps == 0)
    #expect(slices.count > 1_000)
    func arrows(_ name: String) -> Set<String> {
      Set(events.filter { $0[name] as? Bool == true }.compactMap { $0["bind_id"] as? String })
    }
    #expect(!arrows("flow_in").isEmpty)
    #expect(arrows("flow_in").isSubset(of: arrows("flow_out")))
  }

  @Test func `a comparison of two reports shows the changes from the first to the second`() {
    func run(_ mean: Int64) -> RunMetrics {
      RunMetrics(
        device: "d", variant: "v", metrics: [.init("hangs", .count(2)), .init("mean", .time(mean))])
    }
    let lines = RunComparison.lines([run(167_000_000), run(11_000_000)], headings: ["a", "b"])
    #expect(
      lines == [
        "             a     b   change", "  hangs      2     2", "  mean   167.0  11.0  -93.4 %",
      ])
  }

  @Test(
    arguments: [
      (.count(36), .count(7), "-80.6 %"), (.count(3), .count(4), "+33.3 %"),
      (.count(10_000), .count(1), "-99.9 %"), (.count(10_000), .count(0), "-100.0 %"),
      (.count(0), .count(1), "new"), (.count(2_000), .count(2_001), "+0.1 %"),
      // Both figures are shown as 21.9.
      (.time(21_880_000), .time(21_920_000), ""),
      (.share(881), .share(639), "-24.2 points"), (.none, .time(1), ""),
    ] as [(RunMetrics.Value, RunMetrics.Value, String)])
  func `changes are rounded, and changes of shares are in percentage points`(
    old: RunMetrics.Value, new: RunMetrics.Value, change: String
  ) {
    let runs = [old, new].map {
      RunMetrics(device: "d", variant: "v", metrics: [.init("row", $0)])
    }
    let row = RunComparison.lines(runs, headings: ["a", "b"]).last ?? ""
    #expect(row.hasSuffix(change.isEmpty ? runs[1].metrics[0].value.text : "  " + change))
  }
}
