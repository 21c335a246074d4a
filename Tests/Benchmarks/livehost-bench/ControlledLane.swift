import ControlInterface
import Foundation
import Ingest
import LivehostDaemon
import Logging
import NIOCore
import NIOPosix
import Recordings
import Rooms
import UnixSockets
import Varlink

/// A lane, its rooms and the control socket, arranged as in the daemon: one thread for the lane and
/// one thread for the sockets.
final class ControlledLane {
  let path: String
  let lane: HostLane
  let directory: RoomDirectory
  let router: EventRouter
  let ioGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let laneGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let control: VarlinkServer

  var controlSocket: String { path + "-control" }

  /// - Parameters:
  ///   - name: a unique part of the names of the sockets.
  ///   - sleep: waits between the replies of a monitor with a maximum rate.
  init(
    _ name: String, monitors: Int,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil
  ) async throws {
    path = NSTemporaryDirectory() + "livehost-bench-\(getpid())-\(name)"
    guard let loop = laneGroup.next() as? any EventLoop & NIOSerialEventLoopExecutor else {
      preconditionFailure("SwiftNIO's event loops are serial executors")
    }
    lane = HostLane(index: 0, eventLoop: loop, settings: RoomSettings(), onTurn: onTurn)
    directory = RoomDirectory(lanes: [lane], maximumRooms: 4)
    router = EventRouter(directory: directory)
    // The executor needs no threads, because nothing is simulated or recorded.
    let executor = WorkExecutor(width: 1)
    let slots = WorkSlots(count: 1)
    let logger = Logger(label: "bench")
    let recordings = RoomRecordings(
      library: try RecordingLibrary(directory: path + "-recordings", onProblem: { _ in }),
      logger: logger)
    let service = LivehostControl(
      directory: directory, router: router,
      status: DaemonStatus(version: "bench", lostEntries: { 0 }),
      simulations: Simulations(executor: executor, slots: slots), recordings: recordings,
      tasks: RoomTasks(
        executor: executor, slots: slots, recordings: recordings, directory: directory,
        logger: logger))
    var limits = VarlinkServer.Limits()
    limits.monitors = monitors
    control = try await VarlinkServer.start(
      on: .bind(path: path + "-control"),
      information: ServiceInformation(vendor: "", product: "", version: "", url: ""),
      interfaces: [
        try ControlInterface.makeInterface(
          service: service, mayChange: { _ in true }, sleep: sleep)
      ],
      limits: limits, group: ioGroup)
  }

  func stop() async throws {
    await control.shutdown()
    await directory.closeAll()
    try await ioGroup.shutdownGracefully()
    try await laneGroup.shutdownGracefully()
  }
}
