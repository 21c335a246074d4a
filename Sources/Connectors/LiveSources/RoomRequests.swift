package import ControlInterface
package import LiveEvents
package import NIOCore
import RateLimiting
import Varlink

/// Receives the requests of a room's host for a source that carries them out. Belongs to one event
/// loop.
///
/// While it runs, an act on one of its controls is pending until the request has an outcome.
package final class RoomRequests {
  /// How long the former call remains open after a change of controls. Its outstanding requests are
  /// sent again to the new call.
  private static let overlap = TimeAmount.seconds(1)

  private let path: String
  private let room: RoomName
  private let eventLoop: any EventLoop
  private var task: Task<Void, Never>?

  package var received: (RequestReport) -> Void = { _ in }
  /// Called when a request is void.
  package var withdrawn: (String) -> Void = { _ in }
  /// Called with the reason why requests do not arrive, or with `nil` when they do.
  package var changed: (String?) -> Void = { _ in }

  /// - Parameter path: The path of the daemon's control socket.
  package init(path: String, room: RoomName, eventLoop: any EventLoop) {
    self.path = path
    self.room = room
    self.eventLoop = eventLoop
  }

  /// Starts receiving the requests for these controls. Replaces the former controls.
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
      // A successful call may have lasted for hours before it failed, so the wait is never long.
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
    // The daemon may start again, and the first event opens a room.
    case .notReachable, .connectionClosed, .cancelled: nil
    case .remote(let error) where error.name == "\(ControlInterface.name).NoSuchRoom": nil
    case .remote(let error) where ServiceError(error) == .permissionDenied:
      "requests of the host do not arrive: join the group livehost"
    case .remote(let error): "requests of the host do not arrive: \(error.name)"
    case .protocolViolation, .invalidParameters, .unexpectedReply:
      "requests of the host do not arrive: incompatible version of livehostd"
    }
  }

  /// Reports the outcome of a request to the room.
  package func report(_ identifier: String, _ outcome: RequestOutcome) {
    let path = path
    Task {
      // Errors are ignored. A late outcome is void, and an outcome that did not arrive is requested
      // again.
      let client = try? await ControlClient.connect(path: path)
      switch outcome {
      case .confirmed:
        try? await client?.reportOutcome(identifier: identifier, outcome: .confirmed)
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
