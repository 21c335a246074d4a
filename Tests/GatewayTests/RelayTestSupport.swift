import ControlInterface
import ControlTestSupport
import Foundation
import Glibc
import NIOPosix
import UnixSockets
import Varlink

/// Calls `body` with a directory that is removed afterwards.
func withDirectory<T: Sendable>(_ body: (String) async throws -> T) async throws -> T {
  var template = Array("/tmp/relay-test-XXXXXX".utf8CString)
  _ = mkdtemp(&template)
  let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try await body(directory)
}

/// A fake daemon at a path.
func startDaemon(_ service: FakeService, at path: String) async throws -> VarlinkServer {
  try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(vendor: "v", product: "p", version: "1", url: "u"),
    interfaces: [try ControlInterface.makeInterface(service: service, mayChange: { _ in true })],
    group: MultiThreadedEventLoopGroup.singleton)
}

/// Shuts servers down after `body`, the last one first.
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
