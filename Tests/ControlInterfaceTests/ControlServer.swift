import ControlInterface
import ControlTestSupport
import NIOPosix
import TestSupport
import UnixSockets
import Varlink

/// Serves the fake daemon on a socket in a dedicated directory.
func withControlServer<T>(
  _ service: FakeService, limits: VarlinkServer.Limits = .init(), mayChange: Bool = true,
  sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
  _ body: (String, VarlinkServer) async throws -> T
) async throws -> T {
  let directory = TemporaryDirectory()
  let path = "\(directory.path)/io.livehost.Control"
  let interface = try ControlInterface.makeInterface(
    service: service, mayChange: { _ in mayChange }, sleep: sleep)
  let server = try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(
      vendor: "livehost", product: "livehostd", version: "1", url: "https://example.org"),
    interfaces: [interface], limits: limits, group: MultiThreadedEventLoopGroup.singleton)
  let result: Result<T, any Error>
  do { result = .success(try await body(path, server)) } catch { result = .failure(error) }
  await server.shutdown()
  extendLifetime(directory)
  return try result.get()
}
