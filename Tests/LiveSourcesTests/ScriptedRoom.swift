import ControlInterface
import LiveEvents
import NIOPosix
import SourceTestSupport
import Synchronization
import TestSupport
import UnixSockets
import Varlink

/// A daemon's control socket whose room `main` sends scripted requests to its controllers.
final class ScriptedRoom: Sendable {
  /// The calls and the reported outcomes, in the order in which they arrived.
  let log = Recorded()
  private let directory = TemporaryDirectory()
  private let calls = Mutex<[AsyncStream<MonitorRequestsReply>.Continuation]>([])

  var path: String { "\(directory.path)/io.livehost.Control" }

  /// Serves the room while `body` runs.
  static func serve(_ body: (ScriptedRoom) async throws -> Void) async throws {
    let room = ScriptedRoom()
    let server = try await VarlinkServer.start(
      on: .bind(path: room.path, mode: 0o600),
      information: ServiceInformation(
        vendor: "livehost", product: "livehostd", version: "1", url: "https://example.org"),
      interfaces: [try room.interface()], limits: .init(),
      group: MultiThreadedEventLoopGroup.singleton)
    let result: Result<Void, any Error>
    do { result = .success(try await body(room)) } catch { result = .failure(error) }
    await server.shutdown()
    try result.get()
  }

  private func interface() throws -> Interface {
    var interface = try Interface(parsing: ControlInterface.definition)
    try interface.handleStream("MonitorRequests", requiresMore: true) {
      [self] (_, parameters: MonitorRequestsParameters, replies) -> MonitorRequestsReply in
      let (requests, continuation) = AsyncStream.makeStream(of: MonitorRequestsReply.self)
      let number = calls.withLock { calls in
        calls.append(continuation)
        return calls.count
      }
      let acts = parameters.acts?.map(\.rawValue).joined(separator: ",")
      log.append(
        "call \(number): \(parameters.controls ?? []) \(parameters.platform ?? "-") "
          + "\(parameters.source ?? "-") \(acts ?? "-")")
      for await request in requests { try await replies.send(request) }
      log.append("call \(number) ended")
      throw ControlError.noSuchRoom("main")
    }
    try interface.handle("ReportOutcome") { [self] (_, parameters: ReportOutcomeParameters) in
      log.append(
        "\(parameters.identifier) \(parameters.outcome.rawValue) \(parameters.reason ?? "-")")
      return NoParameters()
    }
    return interface
  }

  /// Sends an act on a call, which is counted from 1.
  func send(_ act: PlatformActReport, _ identifier: String, on call: Int = 1) {
    send(
      MonitorRequestsReply(
        request: RequestReport(identifier: identifier, room: "main", kind: .act, act: act)),
      on: call)
  }

  func send(_ reply: MonitorRequestsReply, on call: Int = 1) {
    _ = calls.withLock { $0[call - 1].yield(reply) }
  }

  /// Ends a call, as when the room closes.
  func end(_ call: Int) { calls.withLock { $0[call - 1].finish() } }
}
