import Composable
import ControlFeature
import ControlInterface
import Foundation
import HostFeature
package import LiveEvents

/// The requests of a room to its controllers, and the completions that wait for their outcomes.
package struct ControllerRequests {
  /// A controller: a client that carries out requests.
  package struct Connection: Sendable {
    package let number: Int
    package let feed: RequestFeed
  }

  private let feed = RequestFeed()
  private var ends = Waiters<RequestOutcome>()
  private var answers = Waiters<Void>()

  /// The client through which the room's effects send requests.
  var client: Controller { feed.client }

  /// The connected controllers, in the order in which they connected.
  var controllers: [Requests.ConnectedController] { feed.controllers }

  func setPatience(_ patience: Duration) { feed.patience = patience }

  /// Adds a controller for some controls, where `nil` means all of them, and for some acts. Throws
  /// `limitReached`.
  func addController(
    controls: [String]?, acts: OfferedActs?, beside requests: Requests?
  ) throws(ControlError) -> (Requests.ConnectedController, Connection) {
    guard feed.controllers.count < Requests.maximumControllers,
      (requests ?? Requests()).fits(controls)
    else { throw .limitReached("surfaces") }
    let controller = feed.add(controls: controls, acts: acts)
    return (controller, Connection(number: controller.number, feed: feed))
  }

  /// Removes a controller that disconnected. Returns `false` if it belonged to an earlier room of
  /// the same name.
  func remove(_ connection: Connection) -> Bool {
    guard connection.feed === feed else { return false }
    feed.remove(connection.number)
    return true
  }

  /// Reports an outcome, and calls `completion` once the room has received it. Returns `false` if
  /// the request is void.
  mutating func report(
    _ outcome: RequestOutcome, of request: RequestIdentifier,
    completion: @escaping Waiters<Void>.Completion
  ) -> Bool {
    guard feed.report(request.number, run: request.run, outcome) else { return false }
    answers.add(completion, to: request.number)
    return true
  }

  /// Calls `completion` when a request ends, during the reduction of an action.
  mutating func whenEnded(
    _ request: Int, _ completion: @escaping Waiters<RequestOutcome>.Completion
  ) {
    ends.add(completion, to: request)
  }

  /// Removes and returns the completions that wait for the end of a request, which has now ended.
  mutating func end(_ request: Int) -> [Waiters<RequestOutcome>.Completion] { ends.remove(request) }

  /// Removes and returns the completions that wait until the room has received an outcome.
  mutating func receiveAnswer(of request: Int) -> [Waiters<Void>.Completion] {
    answers.remove(request)
  }

  mutating func endWaits() {
    for body in ends.removeAll() { body(.refused(reason: ControlRequest.controllerLeft)) }
    for body in answers.removeAll() { body(()) }
  }

  /// Ends the calls of all controllers when the room is closed.
  func finish(_ error: ControlError) { feed.finish(error) }
}

/// The identifier that clients see for a request: the room's name and a number, separated by a
/// slash. For an act, a slash and the run of its feed follow.
///
/// After a crash, a new act may have the same number as an act that was not logged. The run keeps
/// the outcome of the earlier act from ending the new act.
package struct RequestIdentifier: Sendable {
  package let room: RoomName
  package let number: Int
  var run: String?

  init(room: RoomName, number: Int, run: String? = nil) {
    (self.room, self.number, self.run) = (room, number, run)
  }

  /// Parses an identifier; fails if no request can have it.
  package init?(_ text: String) {
    guard text.utf8.count <= EventLimits.nameLength,
      case let parts = text.split(separator: "/", omittingEmptySubsequences: false),
      2...3 ~= parts.count, let room = RoomName(String(parts[0])), let number = Int(parts[1])
    else { return nil }
    self.init(room: room, number: number, run: parts.count == 3 ? String(parts[2]) : nil)
  }

  var text: String { "\(room)/\(number)" + (run.map { "/\($0)" } ?? "") }
}

extension MonitorRequestsReply {
  package init(_ message: RequestFeed.Message, room: RoomName) {
    switch message {
    case .withdrawn(let number, let run):
      self.init(withdrawn: RequestIdentifier(room: room, number: number, run: run).text)
    case .request(let request, let run):
      var report = RequestReport(
        identifier: RequestIdentifier(room: room, number: request.number, run: run).text,
        room: room.description, kind: .endStream)
      switch request.command {
      case .slider(let control, let value):
        (report.kind, report.control, report.value) = (.setControl, control, value)
      case .switch(let control, let position):
        (report.kind, report.control, report.on) = (.setSwitch, control, position)
      case .endStream: break
      case .record(let wish): report.kind = RequestKind(wish)
      case .act(let act): (report.kind, report.act) = (.act, PlatformActReport(act.act))
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
