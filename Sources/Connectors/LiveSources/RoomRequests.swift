package import ControlInterface
package import LiveEvents
package import NIOCore
import RateLimiting
import Varlink

/// Receives a room's requests for a source that carries them out: changes to the source's controls,
/// and acts on its platform. A request stays pending until ``report(_:_:)`` reports its outcome.
/// Belongs to one event loop.
package final class RoomRequests {
  /// The daemon and room that send the requests, and the names under which they know the source.
  package struct Settings: Sendable {
    /// The path of the daemon's control socket.
    package var path: String
    package var room: RoomName
    /// The platform on which the source acts. `nil` if the source passes on messages of several
    /// platforms and acts on all of them.
    package var platform: String?
    /// The name of the source whose messages this source acts on; for Twitch, the chat's source. By
    /// this name, the room finds the controller for an act on a message.
    package var source: String?
    /// How long the previous call stays open after ``RoomRequests/serve(controls:acts:)``. The
    /// daemon sends outstanding changes of controls again on the new call.
    package var overlap = TimeAmount.seconds(1)

    package init(
      path: String, room: RoomName, platform: String? = nil, source: String? = nil
    ) {
      self.path = path
      self.room = room
      self.platform = platform
      self.source = source
    }
  }

  /// A call of `MonitorRequests`, which is repeated until the call is cancelled.
  private final class Call {
    let requests: RoomRequests
    var task: Task<Void, Never>?
    /// Whether a later call receives the requests.
    var isReplaced = false

    init(of requests: RoomRequests) { self.requests = requests }
  }

  /// The maximum number of acts without an outcome.
  private static let maximumActs = 64
  /// The maximum length of the reason for a refusal, in bytes of UTF-8.
  private static let longestReason = 256

  private let settings: Settings
  private let eventLoop: any EventLoop
  private var call: Call?
  /// The acts without an outcome, and the call that received each.
  private var acts: [String: Call] = [:]

  /// Called with each request for a change of a control.
  package var received: (RequestReport) -> Void = { _ in }
  /// Called with each act, at most once.
  package var act: (ActRequest) -> Void = { _ in }
  /// Called with the identifier of a request that the room has withdrawn.
  package var withdrawn: (String) -> Void = { _ in }
  /// Called with a reason when requests can no longer arrive, and with `nil` when they can arrive
  /// again.
  package var changed: (String?) -> Void = { _ in }

  package init(_ settings: Settings, eventLoop: any EventLoop) {
    self.settings = settings
    self.eventLoop = eventLoop
  }

  /// Starts receiving requests for these controls and kinds of acts, which replace the previous
  /// ones. If both lists are empty, stops receiving requests.
  package func serve(controls: [String] = [], acts: [ActKind] = []) {
    let former = call
    call = controls.isEmpty && acts.isEmpty ? nil : begin(controls, acts)
    guard let former else { return }
    eventLoop.assumeIsolated().scheduleTask(in: settings.overlap) { [self] in
      former.isReplaced = true
      cancelIfDone(former)
    }
  }

  /// Cancels a replaced call if all its acts have outcomes. If the call ended earlier, the daemon
  /// would end the remaining acts with an unknown outcome.
  private func cancelIfDone(_ call: Call) {
    if call.isReplaced, !acts.values.contains(where: { $0 === call }) { call.task?.cancel() }
  }

  private func begin(_ controls: [String], _ acts: [ActKind]) -> Call {
    let call = Call(of: self)
    let parameters = MonitorRequestsParameters(
      room: settings.room.description, controls: controls, platform: settings.platform,
      source: settings.source, acts: acts.isEmpty ? nil : acts)
    call.task = Self.begin(
      settings.path, parameters, NIOLoopBound(call, eventLoop: eventLoop), on: eventLoop)
    return call
  }

  private static func begin(
    _ path: String, _ parameters: MonitorRequestsParameters, _ call: NIOLoopBound<Call>,
    on loop: any EventLoop
  ) -> Task<Void, Never> {
    Task { await run(path, parameters, call, on: loop) }
  }

  private static func run(
    _ path: String, _ parameters: MonitorRequestsParameters, _ call: NIOLoopBound<Call>,
    on loop: any EventLoop
  ) async {
    var policy = ReconnectPolicy(longest: .seconds(4))
    var generator = SystemRandomNumberGenerator()
    while !Task.isCancelled {
      let problem = await monitor(path, parameters, call, on: loop)
      if !Task.isCancelled {
        loop.execute { call.value.requests.ended(call.value, problem) }
      }
      // The longest wait is short, because the policy is never reset, even if a call lasted for
      // hours before it failed.
      let wait = policy.failed(at: .origin, using: &generator) - .origin
      try? await Task.sleep(for: Duration(max(wait, .milliseconds(200))))
    }
  }

  /// Receives requests until the call ends. Returns a problem to report, or `nil` if the cause is
  /// temporary.
  private static func monitor(
    _ path: String, _ parameters: MonitorRequestsParameters, _ call: NIOLoopBound<Call>,
    on loop: any EventLoop
  ) async -> String? {
    do throws(VarlinkClientError) {
      let client = try await ControlClient.connect(path: path)
      let replies = try client.monitorRequests(
        room: parameters.room, controls: parameters.controls, platform: parameters.platform,
        source: parameters.source, acts: parameters.acts)
      loop.execute { call.value.requests.changed(nil) }
      var iterator = replies.makeAsyncIterator()
      while let reply = try await iterator.next() {
        loop.execute { call.value.requests.process(reply, of: call.value) }
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

  // MARK: Requests

  private func process(_ reply: MonitorRequestsReply, of call: Call) {
    if let request = reply.request {
      if request.kind == .act { begin(request, of: call) } else { received(request) }
    }
    if let identifier = reply.withdrawn {
      withdrawn(identifier)
      forget(identifier)
    }
  }

  private func begin(_ request: RequestReport, of call: Call) {
    // An act must never be carried out twice, so an act that arrives again is ignored.
    guard acts[request.identifier] == nil else { return }
    let refusal: String
    if let act = request.act.flatMap({ try? PlatformAct($0) }) {
      if acts.count < Self.maximumActs {
        acts[request.identifier] = call
        return self.act(ActRequest(identifier: request.identifier, act: act))
      }
      refusal = "the source has too many acts without an outcome"
    } else {
      refusal = "the act is incomplete"
    }
    report(request.identifier, .refused(reason: refusal))
  }

  /// Withdraws the acts of a call that has ended, because the daemon has already ended them. Acts
  /// that still wait for their turn are never carried out.
  private func ended(_ call: Call, _ problem: String?) {
    for identifier in acts.keys.sorted() where acts[identifier] === call {
      acts[identifier] = nil
      withdrawn(identifier)
    }
    cancelIfDone(call)
    if call === self.call { changed(problem) }
  }

  private func forget(_ identifier: String) {
    guard let call = acts.removeValue(forKey: identifier) else { return }
    cancelIfDone(call)
  }

  /// Reports the outcome of a request to the room.
  package func report(_ identifier: String, _ outcome: RequestOutcome) {
    let path = settings.path
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let loop = eventLoop
    let (report, reason): (OutcomeReport, String?) =
      switch outcome {
      case .confirmed: (.confirmed, nil)
      case .sent: (.sent, nil)
      case .refused(let reason):
        (.refused, reason.isEmpty ? nil : String(Text(reason).cut(to: Self.longestReason)))
      }
    Task {
      // Errors are ignored: the room ignores an outcome that arrives too late, and ends a request
      // that gets no outcome.
      let client = try? await ControlClient.connect(path: path)
      try? await client?.reportOutcome(identifier: identifier, outcome: report, reason: reason)
      loop.execute { bound.value.forget(identifier) }
    }
  }

  package func stop() {
    call?.task?.cancel()
    call = nil
    for call in acts.values { call.task?.cancel() }
    acts = [:]
  }
}
