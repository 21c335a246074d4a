import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents

// How a room's requests reach those who carry them out, and how their outcomes come back.
extension Room {
  /// A client that carries out requests.
  struct Surface: Sendable {
    let number: Int
    let feed: RequestFeed
  }

  private var panel: ControlFeature.State { screen.store.state.control }

  func addSurface(controls: [String]?) -> Result<Surface, ControlError> {
    let isFull = requests.surfaces.count >= Requests.maximumSurfaces
    guard !isFull, (panel.requests ?? Requests()).fits(controls) else {
      return .failure(.limitReached("surfaces"))
    }
    let surface = requests.add(controls: controls)
    note(surface)
    return .success(Surface(number: surface.number, feed: requests))
  }

  /// Removes a client that has gone; that of an earlier room of the same name went with it.
  func removeSurface(_ surface: Surface) {
    guard surface.feed === requests else { return }
    requests.remove(surface.number)
    _ = perform(.control(.surface(.ended(surface: surface.number))))
    log?.handOver()
  }

  private func note(_ surface: Requests.Surface) {
    let controls = surface.controls?.map { Text($0) }
    _ = perform(.control(.surface(.began(surface: surface.number, controls: controls))))
    log?.handOver()
  }

  /// After a recording was played: its surfaces are gone, and what it asked them is given up.
  func resetSurfaces() {
    guard panel.requests != nil else { return }
    _ = perform(.control(.surface(.ended(surface: nil))))
    for surface in requests.surfaces { note(surface) }
  }

  /// Whether there are surfaces, or requests without an outcome.
  var hasRequests: Bool {
    panel.requests.map { !$0.surfaces.isEmpty || !$0.outstanding.isEmpty } ?? false
  }

  /// After a restart: what was asked before is asked again of the surfaces that come.
  func resumeRequests() {
    guard hasRequests else { return }
    _ = perform(.control(.surface(.restarted)))
    log?.handOver()
  }

  /// Takes what an effect brought back, as an input of the room.
  func perform(effectEvent event: LiveEvent.Payload) {
    _ = perform(event)
    if case .control(.outcome(let request, _)) = event { requestWaiters.noteAnswer(request) }
  }

  /// The number of the request that waits for its outcome, for the control of an act.
  func request(of act: LiveEvent.Payload) -> Int? {
    switch act {
    case .control(.set(let control, _)), .control(.tap(let control, _)):
      panel.requests?.outstanding(for: String(control))?.number
    case .control(.record):
      panel.requests?.outstanding(for: ControlFeature.recorder)?.number
    // Nothing else is asked of surfaces.
    default: nil
    }
  }

  /// The reply to an act that a surface was asked for.
  func reply(to act: LiveEvent.Payload, _ outcome: RequestOutcome) -> HostReply {
    var reply = HostReply()
    switch act {
    case .control(.set(let control, _)): reply.value = panel.values[String(control)]
    case .control(.tap(let control, _)): reply.on = panel.switches[String(control)]
    default: break
    }
    switch outcome {
    case .confirmed: reply.outcome = .confirmed
    case .refused(let reason): (reply.outcome, reply.reason) = (.refused, reason)
    }
    return reply
  }
}

/// Who waits for the outcomes of a room's requests.
final class RequestWaiters {
  private var ends: [Int: [@Sendable (RequestOutcome) -> Void]] = [:]
  private var answers: [Int: [@Sendable () -> Void]] = [:]

  /// Calls `body` when a request has ended, while the room is changing.
  func whenEnded(_ request: Int, _ body: @escaping @Sendable (RequestOutcome) -> Void) {
    ends[request, default: []].append(body)
  }

  /// Calls `body` when the room has taken the answer to a request, or the request has ended.
  func whenAnswered(_ request: Int, _ body: @escaping @Sendable () -> Void) {
    answers[request, default: []].append(body)
  }

  func end(_ request: Int, _ outcome: RequestOutcome) {
    for body in ends.removeValue(forKey: request) ?? [] { body(outcome) }
    noteAnswer(request)
  }

  func noteAnswer(_ request: Int) {
    for body in answers.removeValue(forKey: request) ?? [] { body() }
  }

  /// Ends all waits: the room goes.
  func endAll() {
    for request in Set(ends.keys).union(answers.keys) {
      end(request, .refused(reason: ControlRequest.surfaceLeft))
    }
  }
}

/// What clients call a request: the name of its room, a slash and its number.
struct RequestIdentifier: Sendable {
  let room: RoomName
  let number: Int

  init(room: RoomName, number: Int) { (self.room, self.number) = (room, number) }

  /// `nil` if no request can have that identifier.
  init?(_ text: String) {
    guard text.utf8.count <= EventLimits.nameLength,
      case let parts = text.split(separator: "/", omittingEmptySubsequences: false),
      parts.count == 2, let room = RoomName(String(parts[0])), let number = Int(parts[1])
    else { return nil }
    self.init(room: room, number: number)
  }

  var text: String { "\(room)/\(number)" }
}

extension MonitorRequestsReply {
  init(_ message: RequestFeed.Message, room: RoomName) {
    switch message {
    case .withdrawn(let number):
      self.init(withdrawn: RequestIdentifier(room: room, number: number).text)
    case .request(let request):
      var report = RequestReport(
        identifier: RequestIdentifier(room: room, number: request.number).text,
        room: room.description, kind: .endStream)
      switch request.wish {
      case .slider(let control, let value):
        (report.kind, report.control, report.value) = (.setControl, control, value)
      case .switch(let control, let position):
        (report.kind, report.control, report.on) = (.setSwitch, control, position)
      case .endStream: break
      case .record(let wish): report.kind = RequestKind(wish)
      }
      self.init(request: report)
    }
  }
}

extension RequestKind {
  fileprivate init(_ wish: RecorderWish) {
    self =
      switch wish {
      case .start: .startRecording
      case .stop: .stopRecording
      case .pause: .pauseRecording
      case .resume: .resumeRecording
      }
  }
}
