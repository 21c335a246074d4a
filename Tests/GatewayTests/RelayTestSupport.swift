import ControlInterface
import ControlTestSupport
import NIOPosix
import TestSupport
import UnixSockets
import Varlink

/// Calls `body` with a directory that is removed afterwards.
func withDirectory<T: Sendable>(_ body: (String) async throws -> T) async throws -> T {
  let directory = TemporaryDirectory()
  defer { extendLifetime(directory) }
  return try await body(directory.path)
}

/// Starts a fake daemon at a path.
func startDaemon(_ service: FakeService, at path: String) async throws -> VarlinkServer {
  try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(vendor: "v", product: "p", version: "1", url: "u"),
    interfaces: [try ControlInterface.makeInterface(service: service, mayChange: { _ in true })],
    group: MultiThreadedEventLoopGroup.singleton)
}

/// Shuts the servers down after `body`, in reverse order.
func ending<T: Sendable>(
  _ servers: [VarlinkServer], after body: () async throws -> T
) async throws -> T {
  let result: Result<T, any Error>
  do {
    result = .success(try await body())
  } catch {
    result = .failure(error)
  }
  for server in servers.reversed() { await server.shutdown() }
  return try result.get()
}
