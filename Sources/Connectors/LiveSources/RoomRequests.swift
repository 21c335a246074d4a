package import ControlInterface
package import LiveEvents
package import NIOCore
import RateLimiting
import Varlink

/// Receives a room's requests for a source that carries them out. While it receives them, a change
/// to one of the source's controls stays pending until ``report(_:_:)`` reports its outcome.
/// Belongs to one event loop.
package final class RoomRequests {
  /// How long the previous call stays open after ``serve(_:)`` has replaced the controls. The
  /// daemon sends outstanding requests again on the new call.
  private static let overlap = TimeAmount.seconds(1)

  private let path: String
  private let room: RoomName
  private let eventLoop: any EventLoop
  private var task: Task<Void, Never>?

  package var received: (RequestReport) -> Void = { _ in }
  /// Called with the identifier of a request that the room has withdrawn.
  package var withdrawn: (String) -> Void = { _ in }
  /// Called with a reason when requests can no longer arrive, and with `nil` when they can arrive
  /// again.
  package var changed: (String?) -> Void = { _ in }

  package init(path: String, room: RoomName, eventLoop: any EventLoop) {
    self.path = path
    self.room = room
    self.eventLoop = eventLoop
  }

  /// Starts receiving requests for `controls`, which replace the previous controls.
  package func serve(_ controls: [String]) {
    let former = task
    task = Self.begin(
      path, room.description, controls, NIOLoopBound(self, eventLoop: eventLoop), on: eventLoop)
    eventLoop.assumeIsolated().scheduleTask(in: Self.overlap) { former?.cancel() }
  }

  private static func begin(
    _ path: String, _ room: String, _ controls: [String],
    _ requests: NIOLoopBound<RoomRequests>, on loop: any EventLoop
  ) -> Task<Void, Never> {
    Task { await run(path, room, controls, requests, on: loop) }
  }

  private static func run(
    _ path: String, _ room: String, _ controls: [String],
    _ requests: NIOLoopBound<RoomRequests>, on loop: any EventLoop
  ) async {
    var policy = ReconnectPolicy(longest: .seconds(4))
    var generator = SystemRandomNumberGenerator()
    while !Task.isCancelled {
      let problem = await monitor(path, room, controls, requests, on: loop)
      if !Task.isCancelled { loop.execute { requests.value.changed(problem) } }
      // The longest wait is short, because the policy is never reset, even if a call lasted for
      // hours before it failed.
      let wait = policy.failed(at: .origin, using: &generator) - .origin
      try? await Task.sleep(for: Duration(max(wait, .milliseconds(200))))
    }
  }

  /// Receives requests until the call ends. Returns a problem to report, or `nil` if the cause is
  /// temporary.
  private static func monitor(
    _ path: String, _ room: String, _ controls: [String],
    _ requests: NIOLoopBound<RoomRequests>, on loop: any EventLoop
  ) async -> String? {
    do throws(VarlinkClientError) {
      let client = try await ControlClient.connect(path: path)
      let replies = try client.monitorRequests(room: room, controls: controls)
      loop.execute { requests.value.changed(nil) }
      var iterator = replies.makeAsyncIterator()
      while let reply = try await iterator.next() {
        loop.execute {
          if let request = reply.request { requests.value.received(request) }
          if let identifier = reply.withdrawn { requests.value.withdrawn(identifier) }
        }
      }
    } catch {
      return problem(error)
    }
    return nil
  }

  private static func problem(_ error: VarlinkClientError) -> String? {
    switch error {
    // These errors are temporary: the daemon may start again, and the room's first event opens the
    // room.
    case .notReachable, .connectionClosed, .cancelled: nil
    case .remote(let error) where error.name == "\(ControlInterface.name).NoSuchRoom": nil
    case .remote(let error) where ServiceError(error) == .permissionDenied:
      "the host's requests cannot be received: join the group livehost"
    case .remote(let error): "the host's requests cannot be received: \(error.name)"
    case .protocolViolation, .invalidParameters, .unexpectedReply:
      "the host's requests cannot be received: incompatible version of livehostd"
    }
  }

  /// Reports the outcome of a request to the room.
  package func report(_ identifier: String, _ outcome: RequestOutcome) {
    let path = path
    Task {
      // Errors are ignored: the room ignores an outcome that arrives too late, and sends a request
      // again if it gets no outcome.
      let client = try? await ControlClient.connect(path: path)
      switch outcome {
      case .confirmed:
        try? await client?.reportOutcome(identifier: identifier, outcome: .confirmed)
      case .sent: try? await client?.reportOutcome(identifier: identifier, outcome: .sent)
      case .refused(let reason):
        try? await client?.reportOutcome(
          identifier: identifier, outcome: .refused, reason: reason)
      }
    }
  }

  package func stop() {
    task?.cancel()
    task = nil
  }
}
