import Dispatch
import Glibc
import NIOCore
import NIOPosix
import TestSupport
import Testing
import UnixSockets

@Suite(.timeLimit(.minutes(1))) struct AcceptTests {
  /// This is more than the default queue length of 128.
  private static let clients = 300
  private let directory = TemporaryDirectory()

  @Test func `hundreds of connections wait while the loop that accepts them is busy`() async throws
  {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let descriptor = try #require(
      try ListeningSocket.bind(path: directory.path + "/socket").removeDescriptor())
    let server = try await ServerBootstrap(group: group).accept(on: descriptor)
    let isFree = DispatchSemaphore(value: 0)
    group.next().execute { isFree.wait() }
    let address = try UnixAddress(directory.path + "/socket")
    var codes: [Int32] = []
    for _ in 0..<Self.clients {
      let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      defer { close(client) }
      codes.append(address.call(Glibc.connect, client) == 0 ? 0 : errno)
    }
    isFree.signal()
    #expect(codes == Array(repeating: 0, count: Self.clients))
    try await server.close()
    try await group.shutdownGracefully()
  }
}
