import ControlInterface
import ControlTestSupport
import Glibc
import NIOPosix
import UnixSockets
import Varlink

/// Serves the fake daemon on a socket in a directory of its own.
func withControlServer<T>(
  _ service: FakeService, limits: VarlinkServer.Limits = .init(), mayChange: Bool = true,
  sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
  _ body: (String, VarlinkServer) async throws -> T
) async throws -> T {
  var template = Array("/tmp/control-test-XXXXXX".utf8CString)
  _ = mkdtemp(&template)
  let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer { rmdir(directory) }
  let path = "\(directory)/io.livehost.Control"
  let interface = try ControlInterface.makeInterface(
    service: service, mayChange: { _ in mayChange }, sleep: sleep)
  let server = try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(
      vendor: "livehost", product: "livehostd", version: "1", url: "https://example.org"),
    interfaces: [interface], limits: limits, group: MultiThreadedEventLoopGroup.singleton)
  do {
    let result = try await body(path, server)
    await server.shutdown()
    return result
  } catch {
    await server.shutdown()
    throw error
  }
}
