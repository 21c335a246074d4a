import ControlInterface
import HangSimulation
import JSON
import LiveEvents
import Simulation
import TerminalScreen
import Varlink

/// Thrown when the user leaves a live demonstration, which then ends without an error.
struct DemoLeftByUser: Error {}

/// A demonstration, which sends a recording and the events of a simulated host to a private daemon.
struct Demo: Sendable {
  /// The duration of the simulated host's stream when it is played at full speed.
  static let simulatedDuration = VirtualTime.seconds(60)
  /// The start of the simulated stream, 2026-01-01. It is fixed so that playing at full speed gives
  /// reproducible results.
  private static let startTimestamp: Timestamp = 1_767_225_600_000
  private static let seed: UInt64 = 42

  let context: Context
  let recording: Recording
  let daemon: DaemonProcess

  /// The room of the simulated host, which always differs from the recording's room.
  var simulatedRoom: RoomName {
    recording.room == .main ? RoomName("simulated") ?? .main : .main
  }

  // MARK: At full speed

  func playOnce() async throws -> DemoSummary {
    let path = recording.path
    let sockets = [daemon.sockets]
    let played = try await Playback.run(
      PlaybackPlan(speed: .maximum), to: sockets, from: { try FileSource(path: path) })
    return try await local.withDaemon { client in
      // The recorded rooms' reports are read before the simulated host is played. Later their
      // figures would change, because a room without a sender soon follows the machine's clock
      // again.
      let parts = try await recorded(lines: played.lines, client)
      let (host, room) = (
        SimulatedHost(
          seed: Self.seed, startTimestamp: Self.startTimestamp, duration: Self.simulatedDuration),
        simulatedRoom
      )
      let simulated = try await Playback.run(
        PlaybackPlan(speed: .maximum), to: sockets,
        from: { SimulatedHostSource(host, room: room) })
      return DemoSummary(
        recorded: parts,
        simulated: DemoSummary.PlayedRoom(
          source: "seed \(Self.seed), \(Self.simulatedDuration.milliseconds / 1000) s",
          lines: simulated.lines, room: try await client.getRoom(room.description)))
    }
  }

  private func recorded(
    lines: Int, _ client: ControlClient
  ) async throws -> [DemoSummary.PlayedRoom] {
    let rooms = try await client.listRooms().rooms.map(\.room)
    // The room of the recording's first line is listed first.
    let first = recording.room.description
    let ordered = rooms.filter { $0 == first } + rooms.filter { $0 != first }
    var parts: [DemoSummary.PlayedRoom] = []
    for room in ordered {
      let report = try await client.getRoom(room)
      parts.append(
        DemoSummary.PlayedRoom(
          source: recording.path, lines: ordered.count == 1 ? lines : report.counters.received,
          room: report))
    }
    return parts
  }

  // MARK: Live

  /// Plays the recording and the simulated host at their own pace, in the terminal or in a browser,
  /// until the user leaves.
  func playLive(onPage: Bool) async throws {
    let path = recording.path
    let sockets = [daemon.sockets]
    let host = SimulatedHost(seed: Self.seed, startTimestamp: Self.startTimestamp)
    let room = simulatedRoom
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = try await Playback.run(
          PlaybackPlan(), to: sockets, from: { SimulatedHostSource(host, room: room) })
      }
      group.addTask {
        _ = try await Playback.run(
          PlaybackPlan(), to: sockets, from: { try FileSource(path: path) })
      }
      group.addTask { try await onPage ? serve() : show() }
      // A recording that ends does not close the screen. The first failure ends all tasks.
      for try await _ in group {}
    }
  }

  private func show() async throws {
    // The simulated room is shown first, because its events fill every pane.
    let rooms = [simulatedRoom.description, recording.room.description]
    guard let terminal = context.console.terminal else { return try await print(rooms) }
    var screen = LiveScreen(
      model: HostScreenModel(rooms: rooms), console: context.console, terminal: terminal)
    try await screen.run { inbox in
      try await watch(rooms, rate: 10) { room, screen in
        inbox.post(.screen(room: rooms[room], screen, at: context.environment.now()), from: room)
      }
    }
    throw DemoLeftByUser()
  }

  private func serve() async throws {
    try await local.run(
      "livehost-web", of: "livehost-web", ["--socket", daemon.sockets.control, "--port", "0"])
    throw DemoLeftByUser()
  }

  private func print(_ rooms: [String]) async throws {
    try await watch(rooms, rate: 1) { _, screen in
      let text = context.console.lines(of: screen)
      try context.console.writeLine((text + [""]).joined(separator: "\n"))
    }
  }

  private func watch(
    _ rooms: [String], rate: Double,
    _ body: @escaping @Sendable (_ room: Int, ScreenReport) throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, room) in rooms.enumerated() {
        group.addTask {
          try await local.withDaemon { client in
            try await open(room, client)
            for try await element in try client.monitorScreen(room, maximumRate: rate) {
              try body(index, element.report())
            }
          }
        }
      }
      for try await _ in group {}
    }
  }

  private func open(_ room: String, _ client: ControlClient) async throws {
    do {
      try await client.openRoom(room)
    } catch {
      // It is not an error if the room already exists, because the room's first event may have
      // opened it.
      guard case .remote(let reply) = error, ControlError(reply) == .roomExists(room) else {
        throw error
      }
    }
  }

  /// The context, connected to the daemon of this demonstration.
  private var local: Context {
    var context = context
    context.socketOption = daemon.sockets.control
    return context
  }
}
