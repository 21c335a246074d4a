import ChatFeature
import Composable
import ControlFeature
import HangSimulation
import HostFeature
import HostScreen
import LiveEvents
import RecorderFeature
import Simulation
import Testing

/// Effects of a simulated screen take the time defined by the scenario, in virtual time.
@Suite struct EffectTests {
  /// Returns a scenario in which a slider is released after a second, on a device with `cores`.
  private func scenario(
    surface: String, duration: String = "10s", cores: Int = 6,
    device: String = "costs: {view: 0ms}",
    events: String = "[{event: {type: slider, control: zoom, phase: end, value: 0.5}, at: 1s}]",
    thresholds: String = "[]"
  ) -> (text: String, files: [String: String]) {
    let text = """
      name: effects
      seed: 3
      duration: \(duration)
      devices: [device]
      events: \(events)
      effects: {surface: \(surface)}
      thresholds: \(thresholds)
      """
    return (text, ["config/devices/device.yaml": "cores: \(cores)\n\(device)"])
  }

  private func panel(surface: String, duration: String) throws -> ControlFeature.State {
    let (text, files) = scenario(surface: surface, duration: duration)
    let screen = try #require(simulatedScreen(Scenario(text, options(files))))
    return screen.store.state.control
  }

  @Test func `a slider's value is pending until the controller answers`() throws {
    let pending = try panel(surface: "{latency: 300ms}", duration: "1299ms")
    #expect(pending.values["zoom"] == nil)
    #expect(pending.requests?.outstanding(for: "zoom")?.command == .slider("zoom", 0.5))
    let confirmed = try panel(surface: "{latency: 300ms}", duration: "1301ms")
    #expect(confirmed.values["zoom"] == 0.5)
    #expect(confirmed.requests?.outstanding.isEmpty == true)
    #expect(confirmed.requests?.failures["zoom"] == nil)
  }

  @Test(arguments: [
    ("{latency: 300ms, failures: 100%}", "1301ms", "refused as configured in the scenario"),
    ("{latency: 300ms, silence: 100%, timeout: 2s}", "3001ms", "no answer"),
    ("{latency: 3s, timeout: 2s}", "3001ms", "no answer"),
  ])
  func `a failed request reports its reason at the time of the failure`(
    surface: String, duration: String, reason: String
  )
    throws
  {
    let failed = try panel(surface: surface, duration: duration)
    #expect(failed.values["zoom"] == nil)
    #expect(failed.requests?.outstanding.isEmpty == true)
    #expect(failed.requests?.failures["zoom"] == reason)
    let before = try panel(surface: surface, duration: duration.replacing("01ms", with: "00ms"))
    #expect(
      before.requests?.outstanding(for: "zoom") != nil || before.requests?.failures["zoom"] != nil)
  }

  private func run(
    _ scenario: (text: String, files: [String: String])
  ) async throws -> (run: RunReport, report: SimulationReport, trace: String) {
    let outcome = try await simulateText(scenario.text, extraFiles: scenario.files) {
      $0.wantsTrace = true
    }
    return (
      try #require(outcome.report.runs.first), outcome.report, try #require(outcome.trace)
    )
  }

  private let drags = """
    [{generate: slider, rate: 1/s}, {generate: tap, arrival: even, rate: 2/s}]
    """

  @Test func `the outcomes and times of effects are reported`() async throws {
    let scenario = scenario(
      surface: "{latency: 80ms, spread: 40ms, failures: 20%, silence: 10%, timeout: 1s}",
      duration: "5m", events: drags, thresholds: "['effect(surface).answered.p95 < 100ms']")
    let (run, report, trace) = try await run(scenario)
    let surface = try #require(run.effects.first)
    #expect(run.effects.count == 1)
    #expect(surface.name == "surface")
    #expect(surface.started > 600)
    let share = Double(surface.failed) / Double(surface.started - surface.abandoned)
    #expect((0.17...0.28).contains(share), "About 20 % of the answered requests fail.")
    // Some requests are withdrawn because the host moves the control again.
    #expect(Double(surface.abandoned) / Double(surface.started) > 0.06)
    #expect((80_000_000...120_000_000).contains(surface.answered.p50))
    #expect((115_000_000...120_400_000).contains(surface.answered.max))
    #expect(surface.queued.max == 0, "The effect computes nothing.")
    #expect(report.thresholds.map(\.passed) == [false])
    #expect(report.json.contains(#""effects":[{"name":"surface","started":"#))
    #expect(report.lines.contains { $0.contains("surface answered p95, ms") })
    #expect(report.html.contains("surface abandoned"))
    let phases = ["b", "e"].map { phase in
      trace.split(separator: "\n").count {
        $0.contains(#""ph":"\#(phase)""#) && $0.contains(#""name":"surface""#)
      }
    }
    #expect(phases[0] == phases[1])
    #expect((1...surface.started).contains(phases[0]))
    let again = try await self.run(scenario)
    #expect(again.report.json == report.json)
    #expect(again.trace == trace)
  }

  @Test func `a report of a scenario without effects does not mention effects`() async throws {
    let outcome = try await simulateText(shortScenario)
    #expect(!outcome.report.json.contains("effects"))
    #expect(!outcome.report.lines.contains { $0.contains("surface") })
  }

  // MARK: The screen's thread and the other cores

  /// Releases four sliders at the same time.
  private let four =
    "["
    + (1...4).map { "{event: {type: slider, control: c\($0), phase: end, value: 0.5}, at: 1s}" }
    .joined(separator: ", ") + "]"

  @Test(arguments: [(cores: 5, longest: 30), (cores: 3, longest: 60), (cores: 2, longest: 120)])
  func `work of effects shares the cores that the screen's thread does not use`(
    cores: Int, longest: Int64
  ) async throws {
    let run = try await run(scenario(surface: "{cost: 30ms}", cores: cores, events: four)).run
    let surface = try #require(run.effects.first)
    #expect(surface.started == 4)
    #expect(surface.answered.max == longest * 1_000_000)
    // The four requests alternate: none waits for a core until another one has finished.
    #expect(surface.queued.max <= 3_000_000)
    #expect(surface.answered.p50 >= (longest - 3) * 1_000_000)
  }

  @Test func `effects compute on other cores while the screen's thread hangs`() async throws {
    // The request begins when its action is reduced, half a second after its arrival. From then the
    // screen's thread is permanently overloaded.
    let events = """
      [{event: {type: slider, control: zoom, phase: end, value: 0.5}, at: 1s},
       {event: {type: stream, state: live}, at: [1510ms, 1511ms, 1512ms]}]
      """
    let slow = "costs: {action: 500ms, view: 0ms}"
    let other = try await run(
      scenario(surface: "{cost: 50ms}", cores: 2, device: slow, events: events)
    ).run
    #expect(other.effects.first?.answered.max == 50_000_000)
    #expect(other.hangs > 1)
    // On a single core, the screen's thread has priority.
    let same = try await run(
      scenario(surface: "{cost: 50ms}", cores: 1, device: slow, events: events)
    ).run
    #expect((same.effects.first?.answered.max ?? 0) > 1_500_000_000)
  }

  @Test func `an effect computes longer on a slower device`() async throws {
    let run = try await run(
      scenario(surface: "{cost: 30ms}", device: "slowdown: 2\ncosts: {view: 0ms}")
    ).run
    #expect(run.effects.first?.answered.max == 60_000_000)
  }

  @Test func `the result of an effect causes a frame`() async throws {
    let with = try await run(scenario(surface: "{latency: 300ms}"))
    let cause = with.run.views.first { $0.name == "ControlView" }?.causes
      .first { $0.action == "control.answered" }
    #expect(cause != nil)
    let turn = with.trace.contains(#""name":"control.answered""#)
    #expect(!turn, "The trace must omit an action without cost.")
  }

  @Test func `effects in progress at the end of a run are cancelled`() async throws {
    let (text, files) = scenario(surface: "{latency: 1h, timeout: 1h}", duration: "2s")
    weak var lane: AnyObject?
    do {
      let screen = try #require(simulatedScreen(Scenario(text, options(files))))
      lane = screen.store
      #expect(screen.store.runningEffects == 0)
    }
    #expect(lane == nil)
  }

  // MARK: Analysis and recorder

  /// Returns the screen after `duration`, with these simulated services.
  private func screen(
    effects: String, duration: String, events: String
  ) throws -> HostScreen {
    let (text, files) = scenario(surface: "{}", duration: duration, events: events)
    let scenario = text.replacing("effects: {surface: {}}", with: "effects: {\(effects)}")
    return try #require(simulatedScreen(Scenario(scenario, options(files))))
  }

  /// Sends spam every tenth of a second, for at most a second.
  private func spam(_ count: Int = 10) -> String {
    "["
      + (0..<count).map { number in
        """
        {event: {type: chat.message, id: m\(number), user: {id: u\(number), name: Bot}, \
        text: buy cheap followers at example dot com}, at: \(number * 100)ms}
        """
      }.joined(separator: ", ") + "]"
  }

  @Test func `the search of the chat runs the real code but takes the time that the scenario sets`()
    throws
  {
    // The batches have 1, 3, 3, and 3 messages. Each search starts when the previous one has
    // finished.
    func chat(
      _ model: String, _ duration: String, events: Int = 10
    ) throws -> HostFeature.State {
      try screen(effects: "analysis: \(model)", duration: duration, events: spam(events)).store
        .state
    }
    let early = try chat("{latency: 250ms}", "700ms", events: 7).chat
    #expect(early?.waves?.current.isEmpty == true && early?.isAnalysing == true)
    let wave = try #require(try chat("{latency: 250ms}", "3s").chat?.waves)
    #expect(wave.current.map(\.messages) == [10] && wave.current.map(\.people) == [10])
    #expect(wave.unanalysed == 0)
    let failed = try #require(try chat("{latency: 250ms, failures: 100%}", "3s").chat?.waves)
    #expect(failed.current.isEmpty && failed.unanalysed == 10)
    let silent = try #require(try chat("{silence: 100%}", "3s").chat)
    #expect(silent.isAnalysing && silent.waves?.current.isEmpty == true)
    #expect(silent.messages.count == 10)
    // Without the key, nothing is searched.
    let none = try screen(effects: "surface: {}", duration: "3s", events: spam()).store.state
    #expect(none.analysesChat == nil && none.chat?.waves == nil)
  }

  @Test func `the search of the chat competes with effects for the cores and is reported`()
    async throws
  {
    let (text, files) = scenario(surface: "{}", cores: 2, events: spam())
    let run = try await run(
      (text.replacing("effects: {surface: {}}", with: "effects: {analysis: {cost: 30ms}}"), files)
    ).run
    let analysis = try #require(run.effects.first)
    #expect(run.effects.map(\.name) == ["analysis"])
    #expect(analysis.started == 10 && analysis.failed == 0)
    #expect(analysis.answered.max == 30_000_000)
  }

  @Test func `a scenario can start a recording with the room, and the start can fail or stall`()
    throws
  {
    func recorder(
      _ model: String, _ duration: String, events: Int = 10
    ) throws -> HostFeature.State {
      try screen(effects: "recorder: \(model)", duration: duration, events: spam(events)).store
        .state
    }
    let starting = try recorder("{latency: 300ms}", "299ms", events: 3)
    #expect(starting.recorder.own?.state == .starting && !starting.isRecording)
    let recording = try recorder("{latency: 300ms}", "301ms", events: 4)
    #expect(recording.recorder.own?.state == .recording && recording.isRecording)
    #expect(recording.recorder.work?.recording == "recording-1")
    let failing = try recorder("{latency: 100ms, failures: 100%}", "3s").recorder
    #expect(failing.own?.state == .failed && failing.work?.isWaiting == true)
    #expect(failing.work?.failure == "failed as configured in the scenario")
    // The first attempt fails after 0.1 s, and the next one 1 s later.
    #expect(failing.work?.failures == 2)
    let stalled = try recorder("{latency: 15s}", "14s").recorder
    #expect(stalled.work?.failure == "the disk does not respond")
    let late = try recorder("{latency: 15s}", "16s").recorder
    #expect(late.own?.state == .recording && late.work?.failure == nil)
  }
}
