import CSimulatedMachine
import ControlInterface
import FileSystem
import Ingest
import LiveEvents
import LivehostDaemon
import Logging
import NIOCore
import Recordings
import Rooms
import SimulatedDisk
import Systemd
import Varlink

/// One run of the daemon on the simulated machine, assembled from the same parts as
/// ``LivehostDaemon``.
///
/// Must be used by one thread at a time.
final class SimulatedDaemon: @unchecked Sendable {
  let directory: RoomDirectory
  let recordings: RoomRecordings
  let library: RecordingLibrary
  let control: LivehostControl
  let memory: IngestMemory
  let ingest: IngestConfiguration
  private let machine: Machine
  private let loops: [SimulatedEventLoop]
  private let ingestLoop: SimulatedEventLoop
  private let controlLoop: SimulatedEventLoop
  private let dispatcher: Dispatcher
  private let limits = VarlinkServer.Limits()
  private let snapshots: SnapshotStore
  private let router: EventRouter
  private let logger: Logger
  private var channels: [SimulatedChannel] = []
  private var connections: UInt64 = 0

  init(
    on machine: Machine, disk: any Disk, lanes: Int, settings: RoomSettings,
    recording: RecordingSettings, ingest: IngestConfiguration, mostSnapshotsWaiting: Int,
    logger: Logger
  ) throws {
    self.machine = machine
    self.logger = logger
    let warn: @Sendable (String) -> Void = { logger.warning("\($0)") }
    let snapshots = try SnapshotStore(
      directory: Self.directory + "/rooms", disk: disk, mostWaiting: mostSnapshotsWaiting,
      onProblem: warn)
    let library = try RecordingLibrary(
      directory: Self.directory + "/recordings", log: Self.directory + "/log",
      settings: recording, onProblem: warn)
    let recordings = RoomRecordings(library: library, logger: logger)
    let tasks = TaskRegistry()
    let observer: RoomObserver = { room, event in
      switch event {
      case .closed, .suspended:
        tasks.roomClosed(room)
        recordings.forgetFailure(of: room)
      case .hibernated: logger.info("room \(room) hibernates")
      case .woken: logger.info("room \(room) is restored from hibernation")
      case .opened, .restored, .committed, .acted, .failed: break
      }
    }
    loops = (0..<lanes).map { _ in SimulatedEventLoop(machine) }
    ingestLoop = SimulatedEventLoop(machine)
    controlLoop = SimulatedEventLoop(machine)
    directory = RoomDirectory(
      lanes: loops.enumerated().map { index, loop in
        HostLane(
          index: index, eventLoop: loop, settings: settings, snapshots: snapshots,
          library: library, recordings: recordings, observer: observer)
      }, maximumRooms: settings.maximumRooms, observer: observer)
    router = EventRouter(directory: directory)
    let executor = WorkExecutor(width: 1)
    machine.work = { executor.runNext() }
    let slots = WorkSlots(count: 1)
    control = LivehostControl(
      directory: directory, router: router,
      status: DaemonStatus(version: "simulated", lostEntries: { 0 }),
      simulations: Simulations(executor: executor, slots: slots), recordings: recordings,
      tasks: RoomTasks(
        registry: tasks, executor: executor, slots: slots, recordings: recordings,
        directory: directory, logger: logger))
    dispatcher = try Dispatcher(
      interfaces: [ControlInterface.makeInterface(service: control, mayChange: { _ in true })],
      limits: limits, unexpectedError: { _, _ in nil })
    self.ingest = ingest
    memory = IngestMemory(limit: ingest.sharedBytes)
    self.library = library
    self.snapshots = snapshots
    self.recordings = recordings
  }

  /// The state directory on the simulated disk. The name does not exist on the real machine.
  static let directory = "/livehost-simulated"

  /// Recovers the state of the last run, as the daemon does before it accepts connections.
  func start() async throws {
    await recordings.open()
    try snapshots.start()
    await Restoration(
      snapshots, library, into: directory, recordings: recordings,
      notifier: ServiceNotifier(), logger: logger
    ).run()
  }

  /// Connects a client to the ingest socket.
  func connect(seed: UInt64) -> SimulatedChannel {
    let channel = SimulatedChannel(ingestLoop, seed: seed)
    channels.append(channel)
    channel.open(IngestConnection(configuration: ingest, sink: router, memory: memory))
    return channel
  }

  /// Connects a client to the control socket.
  func connectControl(seed: UInt64) -> SimulatedChannel {
    let channel = SimulatedChannel(controlLoop, seed: seed)
    let handler = ServerConnection(
      dispatcher: dispatcher, limits: limits, eventLoop: controlLoop)
    channel.open(handler, readsAlways: true)
    return channel
  }

  /// Stops the parts in the same order as the daemon.
  func stop() async {
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(IngestConnection.Drain())
    }
    for channel in channels { try? await channel.closeFuture.get() }
    await directory.closeAll()
    await recordings.close()
    await snapshots.close()
  }

  /// Frees the resources that the kernel frees at the end of a real process.
  func release() {
    for loop in loops { loop.stop() }
    ingestLoop.stop()
    controlLoop.stop()
    machine.work = { false }
    channels = []
  }
}
