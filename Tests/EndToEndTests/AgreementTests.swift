import Composable
import ControlInterface
import Foundation
import HangSimulation
import HostScreen
import JSON
import LiveEvents
import LivehostDaemon
import RateLimiting
import Rooms
import Simulation
import SocketTestSupport
import TestSupport
import Testing
import Throttling
import Varlink
import ViewGraph
import WireFormats
import YAMLReader

/// Checks that the simulator and the daemon process a minute of a host's stream identically.
@Suite(.serialized)
struct AgreementTests {
  /// The first time stamp of the simulator.
  private static let epoch: Timestamp = 1_767_225_600_000

  /// A minute of every kind of event that a screen receives. The last event ends the stream.
  private static let minute: [LiveEvent] = {
    var events = SimulatedHost(seed: 11, startTimestamp: epoch, duration: .seconds(60))
      .map(\.event)
    events = (events + polls).enumerated()
      .sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
      .map(\.element)
    let last = events.last?.timestamp ?? 0
    events.append(LiveEvent(timestamp: last + 1, payload: .stream(.ended)))
    return events
  }()

  /// A poll with a winner, late votes for this poll, and another poll that is open until the stream
  /// ends.
  private static let polls: [LiveEvent] = {
    func event(_ milliseconds: Int, _ event: PollEvent) -> LiveEvent {
      LiveEvent(timestamp: epoch + Timestamp(milliseconds), payload: .poll(event))
    }
    func votes(_ id: Text, from start: Int) -> [LiveEvent] {
      (1...150).map { event(start + $0 * 70, .votes(pollID: id, totals: [$0, $0 / 2])) }
    }
    func begin(_ id: Text, at start: Int) -> LiveEvent {
      let end = epoch + Timestamp(start + 10_000)
      let question = PollQuestion(id: id, title: "Which?", options: ["old", "new"], endsAt: end)
      return event(start, .begin(question))
    }
    return [begin("one", at: 20_000)] + votes("one", from: 20_000)
      + [event(30_501, .end(pollID: "one", winner: 0))]
      + [event(31_000, .votes(pollID: "one", totals: [500, 500]))]
      + [begin("two", at: 45_000)] + votes("two", from: 45_000)
  }()

  private static var lines: [UInt8] {
    minute.reduce(into: []) { NativeEncoder.append($1, to: &$0) }
  }

  @Test(arguments: ["virtual time", "sockets and lanes"])
  func `with a stepped clock, simulator and daemon agree on actions, final state and evaluations`(
    world: String
  ) async throws {
    let report =
      world == "virtual time" ? try simulated() : try await live(clock: "event")
    // The expected sums follow from the script alone, not from either implementation.
    #expect(report.counters.received == Self.minute.count)
    #expect(report.counters.rejected == 1, "the late votes are rejected")
    #expect(report.counters.pending == 0)
    #expect(report.phase == .ended)
    #expect(report.features.header?.likes == Self.likes)
    let other = world == "virtual time" ? try await live(clock: "event") : try simulated()
    #expect(report.actionsByKind == other.actionsByKind)
    #expect(report.actions == other.actions)
    #expect(report.frames == other.frames)
    #expect(report.features == other.features)
    #expect(report.counters == other.counters)
    #expect(report.views.mapValues(\.evaluations) == other.views.mapValues(\.evaluations))
    #expect(report.views.mapValues(\.avoidable) == other.views.mapValues(\.avoidable))
  }

  @Test
  func `on the real clock, simulator and daemon agree on state, sums and undroppable actions`()
    async throws
  {
    let simulated = try simulated()
    let live = try await live(clock: "arrival")
    #expect(live.phase == simulated.phase)
    #expect(live.counters.received == simulated.counters.received)
    #expect(live.counters.rejected == simulated.counters.rejected)
    #expect(live.counters.pending == 0)
    var (one, other) = (live.features, simulated.features)
    // The rates are not compared, because they decay with time, and a minute played at full speed
    // takes less time.
    one.chat?.rate = 0
    other.chat?.rate = 0
    one.chat?.recent = nil
    other.chat?.recent = nil
    #expect(one == other)
    for kind in [
      "stream", "header.titleChanged", "control.tapped", "control.sliderBegan",
      "control.sliderReleased", "control.delegate", "recorder.stateChanged", "poll.began",
      "poll.ended",
    ] {
      #expect(live.actionsByKind[kind] == simulated.actionsByKind[kind], "\(kind)")
    }
  }

  // MARK: Throttles

  @Test
  func `costly frames widen the chat's interval at the same frames in simulator and daemon`() throws
  {
    // Each evaluation of the chat takes 12 ms. A budget of a quarter allows one every 48 ms.
    let simulated = try simulatedChat(cost: "12ms")
    let live = liveChat(cost: 12_000_000)
    #expect(simulated == live)
    #expect(simulated.count < 50)
    let distances = zip(simulated, simulated.dropFirst()).map { $1.start - $0.start }
    // Some intervals are shorter, because the screen's clock adds an evaluation once a second.
    #expect(distances.sorted()[distances.count / 4] >= 48_000_000, "\(distances)")
    // Without widening, the chat is evaluated as often as time allows.
    let fixed = try simulatedChat(cost: "12ms", variant: "{throttle.chat: frame}")
    #expect(fixed == liveChat(cost: 12_000_000) { $0[.chat].maximumStaleness = $0[.chat].interval })
    #expect(fixed.count > 60)
    // Frames without cost do not widen the interval.
    #expect(try simulatedChat(cost: "0ms") == liveChat(cost: 0))
  }

  @Test(arguments: ThrottledKind.allCases)
  func `a throttle's key has the same meaning in livehostd.yaml and in a scenario`(
    kind: ThrottledKind
  )
    throws
  {
    var read: [String: ThrottlePolicies] = [:]
    for text in [
      "1.5s", "1500ms", "{interval: 1.5s}", "{interval: 1500ms}", "{interval: 2s}",
      "{interval: 1.5s, maximum-staleness: 3s}",
    ] where kind != .progress || !text.contains("staleness") {
      var configuration = Configuration()
      try configuration.read(text: "throttle: {\(kind.rawValue): \(text)}", file: "test.yaml")
      let scenario = try scenario(
        "events: [{recording: events.ndjson}]", Self.idealDevice,
        variant: "{throttle.\(kind.rawValue): \(text)}")
      let policies = configuration.rooms.throttling
      #expect(scenario.variants.map(\.settings.throttling) == [policies], "\(text)")
      #expect(policies != ThrottlePolicies(), "\(text)")
      read[text] = policies
    }
    let alike = ["1.5s", "1500ms", "{interval: 1.5s}", "{interval: 1500ms}"]
    #expect(Set(alike.map { read[$0] }).count == 1)
    #expect(read["1.5s"] != read["{interval: 2s}"])
  }

  /// An evaluation of the chat's view: its frame, and its start and duration on the screen's clock.
  private struct ChatEvaluation: Equatable {
    var frame: UInt64
    var start: UInt64
    var length: UInt64
  }

  /// 500 messages a second for two seconds.
  private static let crowd: [LiveEvent] = (0..<1_000).map { number in
    LiveEvent(
      timestamp: epoch + Timestamp(number) * 2,
      payload: .chat(
        .message(
          ChatMessage(id: "m\(number)", userID: "u", userName: "Ada", text: "hello"))))
  }

  private func evaluations(_ screen: HostScreen) -> [ChatEvaluation] {
    screen.views.log.records(of: "ChatView").map {
      ChatEvaluation(frame: $0.frame, start: $0.start, length: $0.inclusive)
    }
  }

  private func simulatedChat(cost: String, variant: String = "{}") throws -> [ChatEvaluation] {
    let scenario = try scenario(
      "events: [{recording: events.ndjson}]", "{costs: {views: {ChatView: {evaluation: \(cost)}}}}",
      duration: "2100ms", variant: variant, recording: Self.crowd)
    return evaluations(try #require(simulatedScreen(scenario)))
  }

  /// Runs a screen as a lane does: events and timers wait while a frame is drawn.
  private func liveChat(
    cost: UInt64, _ change: (inout ThrottlePolicies) -> Void = { _ in }
  ) -> [ChatEvaluation] {
    let clock = CostlyClock(cost)
    var policies = ThrottlePolicies()
    change(&policies)
    let screen = HostScreen(
      lane: IdleLane(), framesPerSecond: 60, throttling: policies, clock: clock)
    var events = Self.crowd[...]
    func arrival(_ event: LiveEvent) -> Int64 { (event.timestamp - Self.epoch) * 1_000_000 }
    while true {
      let next = [events.first.map(arrival), screen.nextFrame?.nanoseconds].compactMap(\.self).min()
      guard let next, next <= 2_100_000_000 else { break }
      clock.now = max(clock.now, UInt64(next))
      let now = Instant(nanoseconds: Int64(clock.now))
      while let event = events.first, arrival(event) <= now.nanoseconds {
        screen.receive(event, at: now)
        events.removeFirst()
      }
      screen.reduce()
      if let frame = screen.nextFrame, frame <= now { screen.drawFrame(at: now) }
    }
    return evaluations(screen)
  }

  /// A clock that advances only during evaluations of the chat.
  private final class CostlyClock: EvaluationClock {
    var now: UInt64 = 0
    private let cost: UInt64

    init(_ cost: UInt64) { self.cost = cost }

    func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {
      if view == "ChatView" { now += cost }
    }
  }

  /// A lane that runs no effects.
  private final class IdleLane: Lane {
    var taskExecutor: (any TaskExecutor)? { nil }
    func execute(_ job: @escaping @Sendable () -> Void) {}
  }

  // MARK: Effects

  /// The host's control events, 200 ms apart. Every second event requires a confirmation
  /// from the controller.
  private static let moves: [ControlEvent] = (1...10).flatMap { number -> [ControlEvent] in
    let control: Text = number.isMultiple(of: 2) ? "zoom" : "beauty"
    let value = Double(number) / 10
    return number.isMultiple(of: 5)
      ? [.meter(input: "microphone", levels: [0.5]), .tap(control: "mirror", on: nil)]
      : [
        .slider(Slider(control: control, phase: .begin, value: value)),
        .slider(Slider(control: control, phase: .end, value: value)),
      ]
  }

  private static let asked: [LiveEvent] = moves.enumerated().map {
    LiveEvent(timestamp: epoch + Timestamp($0) * 200, payload: .control($1))
  }

  private static let refusal = "refused as configured in the scenario"

  @Test(.timeLimit(.minutes(1)), arguments: [RequestOutcome.confirmed, .refused(reason: refusal)])
  func `simulator and daemon give equal values and requests with a controller of fixed latency`(
    outcome: RequestOutcome
  ) async throws {
    let failures = outcome == .confirmed ? "0%" : "100%"
    let scenario = try scenario(
      "events: [{recording: events.ndjson}]\n"
        + "effects: {surface: {latency: 50ms, failures: \(failures)}}",
      Self.idealDevice, duration: "5s", recording: Self.asked)
    let simulated = RoomReport(
      try #require(simulatedScreen(scenario)), room: "main",
      newestMessages: RoomSettings().reportedMessages)

    let daemon = try RunningDaemon()
    let connection = try BlockingClient(daemon.ingestSocket)
    let live = try await daemon.withControl { control in
      try await control.openRoom("main")
      let surface = try await ControlClient.connect(path: daemon.controlSocket)
      var requests = try surface.monitorRequests(room: "main", controls: nil).makeAsyncIterator()
      while try await control.getRoom("main").actionsByKind["control.surface"] == nil {}
      for (number, event) in Self.asked.enumerated() {
        var line: [UInt8] = []
        NativeEncoder.append(event, to: &line)
        try connection.write(line)
        _ = try connection.sync()
        guard !number.isMultiple(of: 2) else { continue }
        let request = try #require(try await requests.next()?.request)
        try await control.reportOutcome(
          identifier: request.identifier, outcome: OutcomeReport(outcome),
          reason: outcome.reason)
      }
      return try await control.getRoom("main")
    }
    #expect(daemon.stop() == 0)

    #expect(live.features.control == simulated.features.control)
    #expect(live.features.control?.committed == (outcome == .confirmed ? 8 : 0))
    #expect(live.features.control?.failures?.count == (outcome == .confirmed ? nil : 3))
    func kinds(_ report: RoomReport) -> [String: Int] {
      report.actionsByKind.filter { $0.key.hasPrefix("control.") && $0.key != "control.ticked" }
    }
    #expect(kinds(live) == kinds(simulated))
    #expect(kinds(live)["control.answered"] == 10)
    #expect(live.counters.applied == simulated.counters.applied)
  }

  /// A message a second for ninety seconds, fifteen seconds of cheers, and then spam.
  private static let cheers: [LiveEvent] = (0..<115).flatMap { (second: Int) -> [LiveEvent] in
    let isGoal = second >= 90 && second < 105
    return (0..<(isGoal ? 9 : 2)).map { (number: Int) -> LiveEvent in
      var random = SplitMix64(seed: UInt64(second * 10 + number))
      let letters = (0..<24).map { _ in UnicodeScalar(UInt8(random.pick(97..<123))) }
      let noise = String(String.UnicodeScalarView(letters))
      let text =
        isGoal
        ? "GOAL \(noise)"
        : second > 104 ? "Buy cheap followers at example dot com \(second)" : noise
      return LiveEvent(
        timestamp: epoch + Timestamp(second) * 1_000 + Timestamp(number) * 100,
        payload: .chat(
          .message(
            ChatMessage(
              id: "m\(second)-\(number)", userID: "u\(number)", userName: "Ada", text: text))))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `simulator and daemon agree on bursts, highlights and state if effects take fixed times`()
    async throws
  {
    let scenario = try scenario(
      "events: [{recording: events.ndjson}]\n"
        + "effects: {analysis: {latency: 20ms}, recorder: {latency: 20ms}}",
      Self.idealDevice, duration: "116s", recording: Self.cheers)
    let simulated = RoomReport(
      try #require(simulatedScreen(scenario)), room: "main",
      newestMessages: RoomSettings().reportedMessages)
    let chat = try #require(simulated.features.chat)
    #expect(chat.waves?.map(\.messages) == [20])
    #expect(chat.highlights?.map { $0.words.first } == ["GOAL"])

    let settings = try temporaryDirectory().appendingPathComponent("livehostd.yaml")
    try Data("rooms:\n  chatWaves: true\n".utf8).write(to: settings)
    let daemon = try RunningDaemon(arguments: ["--config", settings.path])
    let connection = try BlockingClient(daemon.ingestSocket)
    let live = try await daemon.withControl { control in
      try await control.openRoom("main")
      #expect(try daemon.ctl("record", "start", "main").status == 0)
      try connection.write("{\"type\":\"options\",\"clock\":\"event\"}\n")
      try connection.write(Self.cheers.reduce(into: []) { NativeEncoder.append($1, to: &$0) })
      _ = try connection.sync()
      // An analysis that is in progress when the last message is applied finishes later.
      var report = try await control.getRoom("main")
      while report.features.chat?.waves?.first?.messages != 20 {
        report = try await control.getRoom("main")
      }
      return report
    }
    #expect(live.features.chat?.waves == chat.waves)
    #expect(live.features.chat?.highlights == chat.highlights)
    #expect(live.features.chat?.total == chat.total)
    for report in [live, simulated] {
      #expect(report.features.recorder?.own?.state == .recording)
      #expect(report.features.recorder?.own?.failure == nil)
      #expect(
        report.actionsByKind["recorder.own"] == 2,
        "one action for the request and one for its confirmation")
    }
    #expect(daemon.stop() == 0)
  }

  // MARK: Simulator and daemon

  /// The time from the first event to the frame that shows the last event. Later ticks would change
  /// the state.
  private static var milliseconds: Int {
    Int((minute.last?.timestamp ?? 0) - (minute.first?.timestamp ?? 0)) + 17
  }

  private static var likes: Int {
    minute.reduce(0) { sum, event in
      if case .header(.reaction(_, let count)) = event.payload { sum + count } else { sum }
    }
  }

  /// A device on which all work costs no time.
  private static let idealDevice = "{title: Ideal, refreshRate: 60, costs: {view: 0ms}}"

  /// Returns a scenario with one device, one variant and a recording named `events.ndjson`.
  private func scenario(
    _ events: String, _ device: String, duration: String = "1s", variant: String = "{}",
    recording: [LiveEvent] = [minute[0]]
  ) throws -> Scenario {
    let contents = [
      "config/devices/device.yaml": Array(device.utf8),
      "events.ndjson": recording.reduce(into: []) { NativeEncoder.append($1, to: &$0) },
    ]
    let files = ScenarioFiles(read: { contents[$0] }, list: { _ in ["device.yaml"] })
    return try Scenario(
      """
      name: agreement
      duration: \(duration)
      devices: [device]
      \(events)
      variants: {one: \(variant)}
      """, SimulationOptions(path: "agreement.yaml", files: files))
  }

  private func simulated() throws -> RoomReport {
    let scenario = try scenario(
      "events: [{recording: events.ndjson}]", Self.idealDevice, duration: "\(Self.milliseconds)ms",
      recording: Self.minute)
    let screen = try #require(simulatedScreen(scenario))
    return RoomReport(screen, room: "main", newestMessages: RoomSettings().reportedMessages)
  }

  /// Sends the minute to the ingest socket of a daemon at full speed.
  ///
  /// - Parameter clock: whether frames follow the time stamps of the events or the machine's clock.
  private func live(clock: String) async throws -> RoomReport {
    let daemon = try RunningDaemon()
    let connection = try BlockingClient(daemon.ingestSocket)
    try connection.write("{\"type\":\"options\",\"clock\":\"\(clock)\"}\n")
    try connection.write(Self.lines)
    #expect(try connection.sync()?["received"] as? Int == Self.minute.count)
    let report = try await daemon.withControl { try await $0.getRoom("main") }
    #expect(daemon.stop() == 0)
    return report
  }
}
