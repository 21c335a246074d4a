import ControlInterface
import Foundation
import HostScreen
import JSON
import LiveEvents
import LivehostDaemon
import Simulation
import Testing
import WireFormats

/// A minute of a host's stream lived through by the simulator and by the daemon: they agree.
@Suite("Live and simulated", .serialized)
struct AgreementTests {
  /// A minute of everything that a screen gets, ended by the end of the stream.
  private static let minute: [LiveEvent] = {
    // Where the simulator's time stamps begin.
    let epoch: Timestamp = 1_767_225_600_000
    var events = SimulatedHost(seed: 11, startTimestamp: epoch, duration: .seconds(60))
      .map(\.event)
    let last = events.last?.timestamp ?? 0
    events.append(LiveEvent(timestamp: last + 1, payload: .stream(.ended)))
    return events
  }()

  private static var lines: [UInt8] {
    minute.reduce(into: []) { NativeEncoder.append($1, to: &$0) }
  }

  @Test(
    "with a stepped clock: the same actions, the same final state, the same evaluations",
    arguments: ["virtual time", "sockets and lanes"])
  func stepped(world: String) async throws {
    let report =
      world == "virtual time" ? try simulated() : try await live(clock: "event")
    // What both must be, found by neither: the sums of the script.
    #expect(report.counters.received == Self.minute.count)
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

  @Test("on the real clock: the same final state, sums, and actions that are never dropped")
  func realClock() async throws {
    let simulated = try simulated()
    let live = try await live(clock: "arrival")
    #expect(live.phase == simulated.phase)
    #expect(live.counters.received == simulated.counters.received)
    #expect(live.counters.rejected == simulated.counters.rejected)
    #expect(live.counters.pending == 0)
    var (one, other) = (live.features, simulated.features)
    // The rate falls with time, of which a minute at full speed has less.
    one.chat?.rate = 0
    other.chat?.rate = 0
    one.chat?.recent = nil
    other.chat?.recent = nil
    #expect(one == other)
    for kind in [
      "stream", "header.titleChanged", "control.tapped", "control.sliderBegan",
      "control.sliderReleased", "control.delegate", "recorder.stateChanged",
    ] {
      #expect(live.actionsByKind[kind] == simulated.actionsByKind[kind], "\(kind)")
    }
  }

  /// From the first event to the frame that shows the last one; time that goes on would tick.
  private static var milliseconds: Int {
    Int((minute.last?.timestamp ?? 0) - (minute.first?.timestamp ?? 0)) + 17
  }

  private static var likes: Int {
    minute.reduce(0) { sum, event in
      if case .header(.reaction(_, let count)) = event.payload { sum + count } else { sum }
    }
  }

  /// The minute on a simulated device that takes no time for anything.
  private func simulated() throws -> RoomReport {
    let minute = String(decoding: Self.lines, as: UTF8.self)
    let contents = [
      "config/devices/ideal.yaml": "{title: Ideal, refreshRate: 60, costs: {view: 0ms}}",
      "minute.ndjson": minute,
    ]
    let files = ScenarioFiles(
      read: { path in contents[path].map { Array($0.utf8) } },
      list: { _ in ["ideal.yaml"] })
    let scenario = try Scenario(
      """
      name: minute
      seed: 1
      duration: \(Self.milliseconds)ms
      devices: [ideal]
      events: [{recording: minute.ndjson}]
      """, SimulationOptions(path: "minute.yaml", files: files))
    let screen = try #require(simulatedScreen(scenario))
    return RoomReport(screen, room: "main", newestMessages: RoomSettings().reportedMessages)
  }

  /// The minute through the ingest socket of a daemon, at full speed.
  ///
  /// - Parameter clock: whether frames follow the time stamps of the events or the machine's clock.
  private func live(clock: String) async throws -> RoomReport {
    let daemon = try RunningDaemon()
    let connection = try RawConnection(daemon.ingestSocket)
    try connection.write("{\"type\":\"options\",\"clock\":\"\(clock)\"}\n")
    try connection.write(Self.lines)
    #expect(try connection.sync()?["received"] as? Int == Self.minute.count)
    let report = try await daemon.withControl { try await $0.getRoom("main") }
    #expect(daemon.stop() == 0)
    return report
  }
}
