import ChatImport
import JSON
package import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of an ``EventSubSession`` with real sockets, a real clock and a login.
///
/// Belongs to one event loop.
package final class EventSubSource: SessionSource {
  private let api: HTTPAddress
  private let logins: HTTPAddress
  private let security: PeerSecurity?
  package let eventLoop: any EventLoop
  private let room: RoomName
  private let channel: String
  private let requests: RoomRequests
  private var login: TwitchLogin
  package var session: EventSubSession
  private var connections: [Int: WebSocketConnection] = [:]
  private var fetches: [Int: HTTPFetch] = [:]
  private var renewal: HTTPFetch?
  package let timer = SourceTimer()
  private var isPaused = false
  private var status = SourceStatus(.connecting)
  private var output = NativeLines()

  package let delivery: SourceDelivery
  package var events = SourceEvents()

  /// - Parameters:
  ///   - security: The TLS settings for encrypted addresses.
  ///   - requests: Receives the room's acts.
  package init(
    _ settings: EventSubSettings, login: TwitchLogin, api: HTTPAddress, logins: HTTPAddress,
    security: PeerSecurity?, delivery: SourceDelivery, requests: RoomRequests,
    eventLoop: any EventLoop
  ) {
    self.api = api
    self.logins = logins
    self.security = security
    self.delivery = delivery
    self.eventLoop = eventLoop
    self.login = login
    channel = settings.channel
    self.requests = requests
    room = Self.room(delivery.settings.room, settings.channel)
    session = EventSubSession(
      settings, generator: SystemRandomNumberGenerator(), at: SourceDelivery.now)
  }

  /// Returns the room of a channel's events: the configured room, or the room with the channel's
  /// name.
  package static func room(_ configured: RoomName?, _ channel: String) -> RoomName {
    configured ?? RoomName(channel) ?? .main
  }

  package func start() {
    delivery.pause = { [weak self] in self?.pause($0) }
    receiveActs(from: requests)
    advance { $0.wake(at: $1) }
  }

  package func stop() {
    advance { $0.finish(at: $1) }
    if status.state != .refused { delivery.report(SourceStatus(.ended), in: room) }
    timer.stop()
    requests.stop()
    for connection in connections.values { connection.close() }
    for fetch in fetches.values { fetch.cancel() }
    renewal?.cancel()
    (connections, fetches, renewal) = ([:], [:], nil)
  }

  package func perform(_ effect: EventSubSession.Effect) {
    switch effect {
    case .connect(let id, let address): connect(id, address)
    case .close(let id): connections.removeValue(forKey: id)?.close()
    case .ask(let id, let request): ask(id, request)
    case .cancel(let id): fetches.removeValue(forKey: id)?.cancel()
    case .renewToken: renew()
    case .event(let notification):
      let (lines, unknown) = (output.lines, output.unknown)
      EventSub.translate(notification, room: room, into: &output)
      delivery.deliver(lines: output.bytes, count: output.lines - lines)
      output.bytes = []
      if output.unknown != unknown {
        session.setRemark(output.remark, notShown: output.notShown, at: SourceDelivery.now)
      }
    case .viewers(let count):
      let line = SourceLine.event(
        "viewers", room: room, at: SourceDelivery.wallTime(SourceDelivery.now)
      ) { $0.add("count", min(count, EventLimits.count.upperBound)) }
      line.withUnsafeBytes { delivery.deliver($0) }
      delivery.flush()
    case .status(let status):
      self.status = status
      report(status, of: channel, in: room)
    case .gap(let from, let to, let reason):
      report(SourceGap(from: from, to: to, reason: reason), of: channel, in: room)
    case .offer(let acts): requests.serve(acts: acts)
    case .outcome(let request, let outcome): requests.report(request, outcome)
    case .refused(let reason): events.failed(.refused(reason))
    }
  }

  private func connect(_ id: Int, _ address: HTTPAddress) {
    var events = WebSocketEvents()
    events.opened = { [weak self] in self?.advance { $0.opened(id, at: $1) } }
    events.received = { [weak self] bytes in
      guard let message = JSONValue(lenient: Array(bytes)) else { return }
      self?.advance { $0.receive(message, on: id, at: $1) }
    }
    events.drained = { [delivery] in delivery.flush() }
    events.closed = { [weak self] end in
      self?.connections[id] = nil
      let reason = end.code.map { "\(end.reason) (\($0))" } ?? end.reason
      self?.advance { $0.closed(id, reason: reason, at: $1) }
    }
    let connection = WebSocketConnection(
      to: address.server, path: address.path, security: address.isEncrypted ? security : nil,
      eventLoop: eventLoop, events: events)
    if isPaused { connection.setReading(false) }
    connections[id] = connection
  }

  private func pause(_ isPaused: Bool) {
    self.isPaused = isPaused
    for connection in connections.values { connection.setReading(!isPaused) }
    advance { $0.pause(isPaused, at: $1) }
  }

  // MARK: Requests

  private func fetch(
    _ request: HTTPRequest, _ completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) -> HTTPFetch {
    HTTPFetch(
      request, security: request.address.isEncrypted ? security : nil, timeout: .seconds(10),
      eventLoop: eventLoop, completion: completion)
  }

  private func ask(_ id: Int, _ request: EventSubRequest) {
    let server = request.isForLogins ? logins : api
    var message = HTTPRequest(request.method, server.appending(request.path))
    message.body = request.body.map { .init(type: "application/json", $0.serialized()) }
    login.authorize(&message, isForLogins: request.isForLogins)
    fetches[id] = fetch(message) { [unowned self] result in
      fetches[id] = nil
      switch result {
      case .success(let answer):
        let body = (try? JSONValue(parsing: answer.body)) ?? .null
        // A token alone does not identify its application.
        if request.isForLogins, let id = body["client_id"]?.stringValue { login.clientID = id }
        advance {
          $0.answered(id, status: answer.status, body, reset: Self.reset(answer, at: $1), at: $1)
        }
      case .failure(let failure):
        advance {
          $0.failed(id, reason: failure.reason, mayBeSent: failure.mayBeSent, at: $1)
        }
      }
    }
  }

  /// Returns the time at which Twitch accepts requests again. The answer contains this time in
  /// seconds since 1970.
  private static func reset(_ answer: HTTPAnswer, at now: Instant) -> Instant? {
    guard let seconds = answer.header("Ratelimit-Reset").flatMap({ Int64($0) }),
      (0...EventLimits.timestamps.upperBound / 1_000).contains(seconds)
    else { return nil }
    return now + .milliseconds(seconds * 1_000 - Int64(SourceDelivery.wallTime(now)))
  }

  private func renew() {
    // Another source may already have renewed the login, and each renewal token works only once.
    if let file = login.file, let stored = try? TwitchLogin.read(file: file),
      stored.token != login.token
    {
      login = stored
      return renewed(.done)
    }
    guard let request = login.renewalRequest(logins) else {
      return renewed(.refused("Twitch does not accept the token"))
    }
    renewal = fetch(request) { [unowned self] result in
      renewal = nil
      switch result {
      case .success(let answer) where answer.status == 200:
        guard let body = try? JSONValue(parsing: answer.body), login.store(body) else {
          return renewed(.failed("Twitch returned no token"))
        }
        do throws(SourceError) {
          try login.save()
          renewed(.done)
        } catch {
          // The renewal token in the file has been used. Report the failure now, not at the next
          // start.
          renewed(.refused(error.description))
        }
      case .success(let answer) where [400, 401, 403].contains(answer.status):
        renewed(.refused("Twitch refuses to renew the login; run livehostctl login twitch"))
      case .success(let answer): renewed(.failed("Twitch answers \(answer.status)"))
      case .failure(let failure): renewed(.failed(failure.reason))
      }
    }
  }

  private func renewed(_ renewal: EventSubSession.Renewal) {
    // Deferred, because the caller may be performing an effect of the session.
    eventLoop.assumeIsolated().execute { [weak self] in
      self?.advance { $0.renewed(renewal, at: $1) }
    }
  }
}
