import JSON
import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of a ``ServerSession`` with real requests and a real clock.
///
/// Belongs to one event loop.
package final class ServerSource: SessionSource {
  private let server: MediaServer
  private let address: HTTPAddress
  private let security: PeerSecurity?
  package let delivery: SourceDelivery
  private let room: RoomName
  package let eventLoop: any EventLoop
  package var session: ServerSession
  private var fetches: [HTTPFetch] = []
  private var answers: [HTTPAnswer?] = []
  private let acts: OwncastActs?
  private let requests: RoomRequests?
  /// The requests that carry out acts, by the identifiers of the acts.
  private var actFetches: [String: HTTPFetch] = [:]
  package let timer = SourceTimer()

  package var events = SourceEvents()

  /// - Parameters:
  ///   - stream: The name of the stream to monitor. `nil` selects the first live stream.
  ///   - acts: The acts that Owncast carries out. `nil` if there is no access token, or if the
  ///     server is not Owncast.
  ///   - requests: Receives the room's acts.
  package init(
    _ server: MediaServer, address: HTTPAddress, stream: String?, security: PeerSecurity?,
    acts: OwncastActs? = nil, requests: RoomRequests? = nil, delivery: SourceDelivery,
    eventLoop: any EventLoop
  ) {
    self.server = server
    self.address = address
    self.security = security
    self.acts = acts
    self.requests = requests
    self.delivery = delivery
    self.eventLoop = eventLoop
    room = delivery.settings.room ?? .main
    session = ServerSession(
      stream: server.hasOneStream ? nil : stream, namesStream: !server.hasOneStream,
      acts: acts?.offered ?? [], generator: SystemRandomNumberGenerator(), at: SourceDelivery.now)
  }

  package func start() {
    delivery.pause = { [weak self] isPaused in self?.advance { $0.pause(isPaused, at: $1) } }
    advance { $0.wake(at: $1) }
    guard let acts, let requests, !acts.offered.isEmpty else { return }
    receiveActs(from: requests)
    requests.serve(acts: acts.offered)
  }

  package func stop() {
    delivery.report(SourceStatus(.ended), in: room)
    timer.stop()
    requests?.stop()
    for fetch in actFetches.values { fetch.cancel() }
    actFetches = [:]
    for fetch in fetches { fetch.cancel() }
    fetches = []
  }

  package func perform(_ effect: ServerSession.Effect) {
    switch effect {
    case .ask(let attempt): ask(attempt)
    case .carryOut(let request): carryOut(request)
    case .outcome(let request, let outcome): requests?.report(request, outcome)
    case .stream(let state, let time):
      deliver("stream", at: time) { $0.add("state", state.rawValue) }
    case .viewers(let count, let time):
      deliver("viewers", at: time) { $0.add("count", min(count, EventLimits.count.upperBound)) }
    case .statistics(let statistics, let time):
      deliver("stats", at: time) {
        $0.add("bitrateKbps", statistics.bitrateKbps)
        $0.add("framesPerSecond", statistics.framesPerSecond)
        $0.add("roundTripMs", statistics.roundTripMilliseconds)
      }
    case .status(let status): report(status, of: address.description, in: room)
    case .gap(let from, let to, let reason):
      report(SourceGap(from: from, to: to, reason: reason), of: address.description, in: room)
    }
  }

  package func performedAll() { delivery.flush() }

  private func deliver(_ type: String, at time: Instant, _ body: (inout JSONWriter) -> Void) {
    SourceLine.event(type, room: room, at: SourceDelivery.wallTime(time), body)
      .withUnsafeBytes { delivery.deliver($0) }
  }

  /// Requests all resources concurrently. Only the first resource exists on every server.
  private func ask(_ attempt: Int) {
    let resources = server.resources(address)
    answers = Array(repeating: nil, count: resources.count)
    var outstanding = resources.count
    var failure = "the server is not of the configured kind, or its statistics have another address"
    fetches = resources.enumerated().map { index, resource in
      HTTPFetch(HTTPRequest(.get, resource), security: security, eventLoop: eventLoop) {
        [unowned self] result in
        switch result {
        case .success(let answer):
          answers[index] = answer
          if index == 0, answer.status != 200 { failure = "the server answers \(answer.status)" }
        case .failure(let error): if index == 0 { failure = error.reason }
        }
        outstanding -= 1
        guard outstanding == 0 else { return }
        let answer = server.answer(answers, of: address)
        advance { session, now in
          if let answer {
            session.answered(attempt, answer, at: now)
          } else {
            session.failed(attempt, failure, at: now)
          }
        }
      }
    }
  }

  private func carryOut(_ request: ActRequest) {
    // The session passes on only the acts that are offered.
    guard let message = acts?.request(for: request.act) else { return }
    let (identifier, kind) = (request.identifier, request.act.kind)
    actFetches[identifier] = HTTPFetch(message, security: security, eventLoop: eventLoop) {
      [unowned self] result in
      actFetches[identifier] = nil
      advance { session, _ in
        session.carriedOut(identifier, OwncastActs.outcome(of: kind, result))
      }
    }
  }
}
