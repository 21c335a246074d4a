import ControlInterface
import ControlTestSupport
import NIOCore
import NIOPosix
import TestSupport
import UnixSockets
import Varlink

/// The sockets of a daemon, served by the library's own server and by ``FakeIngest``.
struct FakeDaemon {
  let directory: TemporaryDirectory
  let service: FakeService
  let ingest: FakeIngest
  private let server: VarlinkServer
  private let listener: any Channel

  /// - Parameters:
  ///   - directory: the directory of an earlier daemon, which this one replaces.
  ///   - mayChange: whether callers may change things.
  init(
    in directory: TemporaryDirectory? = nil, report: RoomReport = FakeService.room,
    mayChange: Bool = true, closesAfterSyncs: Int? = nil
  ) async throws {
    service = FakeService(report: report)
    // A stopped daemon leaves a plain file there; see stop().
    if let directory { _ = directory.removeFile("ingest") }
    let directory = directory ?? TemporaryDirectory()
    self.directory = directory
    let group = MultiThreadedEventLoopGroup.singleton
    let interface = try ControlInterface.makeInterface(service: service) { _ in mayChange }
    let managed = try ServiceManagement.makeInterface(service: service) { _ in mayChange }
    server = try await VarlinkServer.start(
      on: .bind(path: "\(directory.path)/io.livehost.Control"),
      information: ServiceInformation(vendor: "test", product: "test", version: "0", url: "test:"),
      interfaces: [interface, managed], group: group)
    let ingest = FakeIngest(closesAfterSyncs: closesAfterSyncs)
    self.ingest = ingest
    listener = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(FakeIngest.Handler(ingest))
        }
      }
      .bind(unixDomainSocketPath: "\(directory.path)/ingest", cleanupExistingSocketFile: true).get()
  }

  func run(
    _ arguments: [String], clock: TestClock = .real, input: [UInt8] = []
  ) async -> Run {
    await CommandLineToolTests.run(
      ["--socket", directory.path] + arguments, clock: clock, input: input)
  }

  func stop() async {
    try? await listener.close().get()
    _ = directory.write("ingest", [])
    await server.shutdown()
  }
}
