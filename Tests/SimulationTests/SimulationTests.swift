import Composable
import Foundation
import HangSimulation
import HostScreen
import Simulation
import Testing
import ViewGraph
import WireFormats

@Suite struct SimulationTests {
  /// Returns a report without its measured members.
  private func counted(_ report: SimulationReport) throws -> NSDictionary {
    let json = try JSONSerialization.jsonObject(with: Data(report.json.utf8))
    var members = try #require(json as? [String: Any])
    for name in SimulationReport.measuredMembers { members[name] = nil }
    return members as NSDictionary
  }

  @Test func `equal seeds give the same report, trace and page, byte for byte`() async throws {
    var plan = try Scenario(shortScenario, options()).plan
    // The search for growth measures real time, so on a busy machine one of the runs may find
    // growth.
    plan.findsGrowth = false
    let first = try await plan.run(wantsTrace: true)
    let second = try await plan.run(wantsTrace: true)
    #expect(first.report.json == second.report.json)
    #expect(first.report.lines == second.report.lines)
    #expect(first.report.html == second.report.html)
    #expect(first.trace == second.trace)
  }

  /// With a trace, each turn is processed separately. Without one, quiet turns are processed
  /// together.
  @Test(arguments: [
    "effects: {surface: {latency: 40ms, cost: 3ms}}",
    "faults: [{kind: burst, at: 2s, for: 1s, times: 3}]",
    "faults: [{kind: stall, at: 2s, for: 1s}, {kind: duplicate, at: 4s, for: 1s, share: 30%}]", "",
  ])
  func `turns that only receive events are counted as turns`(extra: String) async throws {
    let flood = """
      name: flood
      seed: 3
      duration: 6s
      devices: [free, fast]
      events:
        - {event: {type: stream, state: live}, at: 500ms}
        - {generate: chat.message, rate: 300/s}
        - {generate: chat.message, arrival: even, rate: 100/s, size: 3, within: 20ms, late: 10%}
        - {generate: meter, arrival: even, rate: 200/s}
        - {generate: viewers, arrival: even, rate: 200/s}
        - {generate: slider, rate: 2/s}
      \(extra)
      """
    let free = ["config/devices/free.yaml": "costs: {action: 0ms}"]
    let one = try await simulateText(flood, extraFiles: free).report
    let other = try await simulateText(flood, extraFiles: free) { $0.wantsTrace = true }.report
    #expect(try counted(one) == counted(other))
    #expect(one == other)
    #expect(one.runs.map(\.digest) == other.runs.map(\.digest))
    let run = try #require(one.runs.first)
    #expect(run.turns > run.events.received / 2, "most events have a turn of their own")
    #expect(
      run.events.received == run.events.applied + run.events.coalesced + run.events.rejected
        + run.events.pending)
  }

  @Test func `another seed gives another digest of the simulation`() async throws {
    var digests: Set<String> = []
    for seed in 1...20 as ClosedRange<UInt64> {
      let outcome = try await simulateText(shortScenario) {
        $0.seed = seed
        $0.devices = ["fast"]
      }
      digests.insert(outcome.report.digest)
      #expect(outcome.report.seed == seed)
    }
    #expect(digests.count == 20)
  }

  @Test func `the order of devices, variants and conditions does not affect a simulation`()
    async throws
  {
    let one = try await simulateText(shortScenario).report
    let turned =
      shortScenario
      .replacing("[fast, slow+hot]", with: "[slow+hot, fast]")
      .replacing("tracked: {host.children: tracked}", with: "zz: {host.children: ignored}")
      .replacing("ignored: {host.children: ignored}", with: "aa: {host.children: tracked}")
    let two = try await simulateText(turned).report
    func digest(_ report: SimulationReport, _ device: String, _ variant: String) -> UInt64? {
      report.runs.first { $0.device == device && $0.variant == variant }?.digest
    }
    for device in ["fast", "slow+hot"] {
      #expect(digest(one, device, "tracked") == digest(two, device, "aa"))
      #expect(digest(one, device, "ignored") == digest(two, device, "zz"))
    }
    let conditions = try await simulateText(shortScenario) {
      $0.devices = ["slow+hot+busy", "slow+busy+hot"]
    }.report
    #expect(
      digest(conditions, "slow+hot+busy", "tracked")
        == digest(conditions, "slow+busy+hot", "tracked"))
    #expect(conditions.runs.first?.slowdown == 6_000_000)
  }

  @Test func `a device can set the costs of each kind of action and of each view`() throws {
    let minute = SimulatedHost(seed: 3, startTimestamp: 0, duration: .seconds(60))
      .reduce(into: [UInt8]()) { NativeEncoder.append($1.event, to: &$0) }
    let text = """
      {name: minute, duration: 60s, devices: [fast], events: [{recording: minute.ndjson}]}
      """
    let recording = ["minute.ndjson": String(decoding: minute, as: UTF8.self)]
    let screen = try #require(simulatedScreen(Scenario(text, options(recording))))
    let kinds = screen.store.actionsByKind.map(\.kind)
    #expect(kinds.count > 15)
    let views = screen.views.statistics.keys
    #expect(views.count == 7)
    func costs(_ names: some Sequence<String>, _ cost: String) -> String {
      names.map { "\($0): \(cost)" }.joined(separator: ", ")
    }
    let device = [
      "config/devices/fast.yaml": """
      costs:
        actions: {\(costs(kinds, "1ms"))}
        views: {\(costs(views, "{evaluation: 1ms}"))}
      """
    ]
    #expect(throws: Never.self) {
      try Scenario(text, options(recording.merging(device) { $1 }))
    }
  }

  @Test func `every simulated event is counted with exactly one outcome`() async throws {
    let report = try await simulateText(shortScenario).report
    for run in report.runs {
      let events = run.events
      #expect(
        events.received
          == events.applied + events.coalesced + events.rejected + events.pending)
      #expect(events.received > 500)
    }
  }

  @Test func `the length of a simulated turn is the sum of its evaluations and reductions`()
    async throws
  {
    let report = try await simulateText(
      """
      name: one
      duration: 3s
      devices: [fast, slow+busy]
      events:
        - event: {type: title, title: a}
          at: 1s
      """
    ).report
    // The host, header, control, and recorder views appear: 30 ms each, in addition to their
    // elements.
    let first = report.runs[0].longestTurns[0]
    #expect(first.appearanceCost == 120_000_000)
    #expect(first.start == 0)
    // The second turn has one action, and the header with its seven elements.
    let second = report.runs[0].longestTurns[1]
    #expect(second.length == 1_000_000 + 2_000_000 + 600_000)
    #expect(second.action == "header.titleChanged")
    #expect(second.view == "HeaderView")
    #expect(report.runs[1].longestTurns[1].length == 4 * second.length)
  }

  @Test func `the progress of a simulation is reported at most once per percent and ends with 100`()
    async throws
  {
    var percents: [Int] = []
    _ = try await simulate(
      Scenario(shortScenario, options()), progress: { percents.append($0) })
    #expect(percents == percents.sorted())
    #expect(Set(percents).count == percents.count)
    #expect(percents.count <= 100)
    #expect(percents.last == 100)
  }

  @Test func `extreme costs and rates do not crash the simulation`() async throws {
    for setting in [
      "costs.action=100h", "costs.element=100h", "costs.view=2000h", "costs.viewElement=2000h",
      "costs.appearance=2000h",
    ] {
      let report = try await simulateText(shortScenario) { $0.settings = [setting, "load=3"] }
        .report
      #expect(report.runs.allSatisfy { $0.hangs > 0 })
    }
  }

  @Test func `cancelling a simulation ends it`() async throws {
    let task = Task {
      try await simulate(scenarioText: shortScenario, options: options())
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }

  @Test func `settings on the command line replace those of the scenario and are reported`()
    async throws
  {
    let report = try await simulateText(shortScenario) {
      $0.settings = ["seed=3", "duration=5s", "costs.view=20ms", "screen.refreshRate=30"]
      $0.devices = ["fast"]
      $0.variants = ["ignored"]
    }.report
    #expect(report.seed == 3)
    #expect(report.duration == .seconds(5))
    #expect(
      report.parameters.map(\.key) == ["seed", "duration", "costs.view", "screen.refreshRate"])
    #expect(report.runs.map(\.variant) == ["ignored"])
    #expect(report.runs[0].refreshRate == 30)
    #expect(report.runs[0].views.allSatisfy { $0.evaluations == 0 || $0.selfMean >= 20_000_000 })
  }

  @Test func `the latency of an event starts at its intended arrival`() async throws {
    let stalled = shortScenario + "\nfaults: [{kind: stall, at: 8s, for: 3s}]"
    let run = try await simulateText(stalled) { $0.devices = ["fast"] }.report.runs[1]
    #expect(run.latency.max >= 2_900_000_000)
    #expect(run.service.max < 2_000_000_000)
    #expect(run.faults.delayed > 50)
  }

  @Test func `an event that a throttle holds does not delay other events`() async throws {
    let run = try await simulateText(
      """
      name: held
      duration: 4s
      events:
        # Both are held until 2 s.
        - {event: {type: stats, bitrateKbps: 1}, at: 1s}
        - {event: {type: stats, bitrateKbps: 2}, at: 1100ms}
        - {event: {type: title, title: a}, at: 1800ms}
        - {event: {type: title, title: b}, at: 1850ms}
        - {event: {type: title, title: c}, at: 1900ms}
      """
    ) { $0.devices = ["fast"] }.report.runs[0]
    #expect(run.latency.p50 < 35_000_000)
    #expect(run.latency.max >= 980_000_000)
  }

  @Test func `a longer throttle interval makes fewer actions from the same events`() async throws {
    let report = try await simulateText(
      shortScenario.replacing(
        "tracked: {host.children: tracked}", with: "slow: {throttle.chat: 500ms}")
    ) { $0.devices = ["fast"] }.report
    let (slow, usual) = (report.runs[0], report.runs[1])
    #expect(slow.events.received == usual.events.received)
    #expect(slow.actions < usual.actions * 3 / 4)
    #expect(slow.latency.p50 > usual.latency.p50)
  }

  // MARK: Thresholds

  @Test(arguments: [
    ("hangs == 0", true), ("hangs != 0", false), ("frames > 10", true), ("frames < 10", false),
    ("frames <= 10", false), ("frames >= 10", true), ("longest < 1h", true),
    ("latency.p99 < 1ns", false), ("hitch <= 1s/s", true), ("view(ChatView).evaluations > 5", true),
    ("view(HostView).evaluations < 30 for ignored", true),
    ("view(HostView).evaluations < 30 for tracked", false),
    ("events.rejected == 0", true), ("longest<1h for fast", true),
  ])
  func `a threshold is compared with the figure of the report`(text: String, isMet: Bool)
    async throws
  {
    let report = try await simulateText(shortScenario) {
      $0.devices = ["fast"]
      $0.thresholds = [text]
    }.report
    #expect(report.thresholds.map(\.passed) == [isMet])
    #expect(report.isPassed == isMet)
    #expect(report.thresholds[0].text == text)
    #expect(report.thresholds[0].failures.isEmpty == isMet)
  }

  @Test func `a simulated cost can depend on the number of elements of a collection`() async throws
  {
    let grown = "{like: fast, costs: {views: {ChatView: {per: {chat.topChatters: 20ms}}}}}"
    let scenario = shortScenario.replacing("[fast, slow+hot]", with: "[fast, grown]")
    let report = try await simulateText(
      scenario, extraFiles: ["config/devices/grown.yaml": grown]
    ).report
    func longest(_ device: String) -> Int64 {
      let run = report.run(device: device, variant: "ignored")
      return run?.views.first { $0.name == "ChatView" }?.max ?? 0
    }
    #expect(longest("grown") >= longest("fast") + 20_000_000)
  }
}
