import Glibc
import JSON
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import UnixSockets
import Varlink

let testInformation = ServiceInformation(
  vendor: "Example", product: "Test", version: "1", url: "https://example.org")

/// Runs a server on a temporary socket and shuts it down afterwards.
func withServer<T>(
  _ interfaces: [Interface], limits: VarlinkServer.Limits = .init(),
  group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
  _ body: (String, VarlinkServer) async throws -> T
) async throws -> T {
  let directory = TemporaryDirectory()
  let path = "\(directory.path)/socket"
  let server = try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666), information: testInformation, interfaces: interfaces,
    limits: limits, group: group)
  let result: Result<T, any Error>
  do { result = .success(try await body(path, server)) } catch { result = .failure(error) }
  await server.shutdown()
  extendLifetime(directory)
  return try result.get()
}

/// An event that one task reports and another awaits. A report before the wait is not lost.
final class Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  init() { (stream, continuation) = AsyncStream.makeStream() }
  func fire() { continuation.yield() }
  /// Waits until `fire` has been called once for this wait. Only one task may wait.
  func wait() async { for await _ in stream { return } }
}

final class Counter: Sendable {
  private let count = Mutex(0)
  func increment() { count.withLock { $0 += 1 } }
  var value: Int { count.withLock { $0 } }
}

struct EchoParameters: Codable, Sendable, Equatable { var text: String }

/// The methods for the tests: `Echo` replies its text, `Fail` an error, `Count` a series, and
/// `Hang` never replies.
struct Example {
  let hangStarted = Signal()
  let hangCancelled = Signal()
  let echoed = Signal()
  let echoes = Counter()

  static let text = """
    # For tests.
    interface org.example.test
    method Echo(text: string) -> (text: string)
    method Fail() -> ()
    method Count(to: int) -> (number: int)
    method CountMore(to: int) -> (number: int)
    method Hang() -> ()
    method HangMore() -> ()
    method Nothing() -> ()
    error Failed (why: string)
    """

  struct CountParameters: Codable, Sendable { let to: Int }
  struct CountReply: Codable, Sendable, Equatable { let number: Int }

  func interface() throws -> Interface {
    var interface = try Interface(parsing: Self.text)
    try interface.handle("Echo") { [echoes, echoed] (_, parameters: EchoParameters) in
      echoes.increment()
      echoed.fire()
      return parameters
    }
    try interface.handle("Fail") { (_, _: NoParameters) async throws -> NoParameters in
      throw VarlinkError(name: "org.example.test.Failed", parameters: ["why": "asked to"])
    }
    for (name, requiresMore) in [("Count", false), ("CountMore", true)] {
      try interface.handleStream(name, requiresMore: requiresMore) {
        (call, parameters: CountParameters, replies) in
        if call.wantsMore {
          for number in 1..<parameters.to { try await replies.send(CountReply(number: number)) }
        }
        return CountReply(number: parameters.to)
      }
    }
    try interface.handle("Hang") { [self] (_, _: NoParameters) in try await hang() }
    try interface.handleStream("HangMore") { [self] (_, _: NoParameters, _) in try await hang() }
    return interface
  }

  private func hang() async throws -> NoParameters {
    let never = AsyncStream<Never> { _ in }
    hangStarted.fire()
    for await _ in never {}  // ends when the task is cancelled
    hangCancelled.fire()
    throw CancellationError()
  }
}
