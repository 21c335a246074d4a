package import ControlInterface
package import LiveEvents
package import NIOCore
import RateLimiting
import Varlink

/// What the host of a room wants done in the world, for a source that can do it. Belongs to one event loop.
///
/// As long as it runs, the controls that it takes are pending until a request has an outcome.
package final class RoomRequests {
  /// How long the former call stays when others are taken: what it was given, the next one is given as well.
  private static let overlap = TimeAmount.seconds(1)

  private let path: String
  private let room: RoomName
  private let eventLoop: any EventLoop
  private var task: Task<Void, Never>?

  package var received: (RequestReport) -> Void = { _ in }
  /// A request is void.
  package var withdrawn: (String) -> Void = { _ in }
  /// Why requests do not arrive; `nil` if they do.
  package var changed: (String?) -> Void = { _ in }

  /// - Parameter path: the daemon's control socket.
  package init(path: String, room: RoomName, eventLoop: any EventLoop) {
    self.path = path
    self.room = room
    self.eventLoop = eventLoop
  }

  /// Takes the requests for these controls, and no others.
  package func take(_ controls: [String]) {
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
      // An attempt may have worked for hours, so the wait is never long.
      let wait = policy.failed(at: .origin, using: &generator) - .origin
      try? await Task.sleep(for: Duration(max(wait, .milliseconds(200))))
    }
  }

  /// Runs until the daemon ends it. Returns what people should know of that; `nil` for what passes.
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
    // The daemon may start again, and a room is opened by the first event.
    case .notReachable, .connectionClosed, .cancelled: nil
    case .remote(let error) where error.name == "\(ControlInterface.name).NoSuchRoom": nil
    case .remote(let error) where ServiceError(error) == .permissionDenied:
      "what the screen asks for is not done: join the group livehost"
    case .remote(let error): "what the screen asks for is not done: \(error.name)"
    case .protocolViolation, .invalidParameters, .unexpectedReply:
      "what the screen asks for is not done: another version of livehostd"
    }
  }

  /// Tells the room the outcome of a request.
  package func report(_ identifier: String, _ outcome: RequestOutcome) {
    let path = path
    Task {
      // Who is late has nothing to say, and who is not heard is asked again.
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
