import ChatImport
import JSON
import LiveEvents
import LiveSources
import RateLimiting
import SourceTestSupport
import TestSupport
import TwitchEvents

extension EventSubSession: VirtualSession {}

/// A simulation of Twitch's EventSub around one session.
struct VirtualEventSub: VirtualServer {
  enum Fault: CaseIterable { case reconnect, badReconnect, freeze, close, outage, expire, requests }

  enum Event {
    case opened(Int)
    case toClient(Int, JSONValue, message: String?)
    case request(Int, EventSubRequest, token: Int)
    case answer(Int, Int, JSONValue, reset: Instant? = nil)
    case act
    case withdraw(String)
    case failed(Int)
    case renewed(Int)
    case keepalive(Int)
    case forget(String)
    case unused(Int)
  }

  struct Peer {
    let session: String
    /// Whether another connection has taken over the session. The connection is still read.
    var isReplaced = false
  }

  static let end = Instant.origin + .seconds(900)
  private static let channel = "ada"

  var session: EventSubSession
  var network: VirtualNetwork<Fault, Event, Peer>
  private var server = ScriptedEventSub()
  private var token = ScriptedEventSub.token
  private var failsRequests = 0
  /// The sessions by their redirection addresses.
  private var calls: [String: String] = [:]
  private var refusesCalls = false
  private var acts = VirtualActs()

  init(seed: UInt64) {
    network = VirtualNetwork(generator: SplitMix64(seed: seed))
    session = EventSubSession(
      EventSubSettings(
        channel: Self.channel, address: HTTPAddress("wss://events.example/ws", .webSocket)!),
      generator: SplitMix64(seed: seed ^ 0xABCD), at: .origin)
    server.scopes += ["user:write:chat", "moderator:manage:banned_users"]
    network.schedule(.act, after: .seconds(1))
  }

  // MARK: The session

  mutating func perform(_ effect: EventSubSession.Effect) {
    switch effect {
    case .connect(let id, let address): connect(id, address)
    case .close(let id): hangUp(id)
    case .ask(let id, let request):
      network.schedule(.request(id, request, token: token), after: network.delay())
    case .renewToken:
      network.count("renewals")
      network.schedule(.renewed(server.validToken), after: network.delay())
    case .event(let notification):
      guard let id = notification.event["message_id"]?.stringValue else { break }
      network.forwarded(id, "event")
    case .viewers: network.count("viewers")
    case .offer, .cancel: break
    case .outcome(let identifier, let outcome): acts.ended(identifier, outcome)
    case .status(let status): network.statuses[Self.channel] = status
    case .gap(let from, let to, _): network.gap(in: Self.channel, from: from, to: to)
    case .refused(let reason): network.violations.append("refused: \(reason)")
    }
  }

  private mutating func connect(_ id: Int, _ address: HTTPAddress) {
    let (up, down) = (network.delay(), network.delay())
    let called = calls[address.description]
    network.connections[id] = VirtualConnection(
      up: up, down: down, peer: Peer(session: called ?? server.newSession()))
    if network.isDown || called != nil && refusesCalls {
      network.connections[id]?.isOpenAtServer = false
      network.schedule(.closed(id), after: up + down)
    } else {
      network.schedule(.opened(id), after: up + down)
    }
  }

  /// Handles the loss of a session's last connection. The server keeps its subscriptions for a
  /// while.
  mutating func dropped(_ id: Int) {
    guard let name = network.connections[id]?.peer.session,
      !network.connections.values.contains(where: {
        $0.peer.session == name && $0.isOpenAtServer
      })
    else { return }
    server.lost(name)
    network.schedule(.forget(name), after: network.delay(0..<40_000))
  }

  // MARK: Events

  mutating func handle(_ event: Event) {
    switch event {
    case .opened(let id): open(id)
    case .toClient(let id, let message, let name):
      guard network.connections[id]?.isHeard == true else { return }
      if let name { network.arrived(name) }
      session.receive(message, on: id, at: network.now)
    case .request(let id, let request, let token): answer(id, request, token)
    case .answer(let id, let status, let body, let reset):
      session.answered(id, status: status, body, reset: reset, at: network.now)
    case .act: act()
    case .withdraw(let identifier):
      acts.withdraw(identifier)
      session.withdraw(identifier)
    case .failed(let id): session.failed(id, reason: "no answer", at: network.now)
    case .renewed(let token):
      self.token = token
      session.renewed(.done, at: network.now)
    case .keepalive(let id):
      guard network.connections[id]?.isOpenAtServer == true else { return }
      send(Message.of("session_keepalive"), to: id)
      network.schedule(.keepalive(id), after: .seconds(10))
    case .forget(let name): server.forget(name)
    case .unused(let id):
      guard let name = network.connections[id]?.peer.session,
        !server.subscriptions.contains(where: { $0.session == name })
      else { return }
      close(id)
    }
  }

  private mutating func open(_ id: Int) {
    guard let connection = network.connections[id], connection.isHeard, connection.isServed
    else { return }
    session.opened(id, at: network.now)
    // The former connections of the session get no further messages.
    for (other, former) in network.connections
    where other != id && former.peer.session == connection.peer.session {
      network.connections[other]?.peer.isReplaced = true
      network.schedule(.leave(other), after: .seconds(30))
    }
    send(Message.welcome(connection.peer.session), to: id)
    network.schedule(.keepalive(id), after: .seconds(10))
    network.schedule(.unused(id), after: .seconds(10))
  }

  /// Requests one or more acts.
  private mutating func act() {
    // The last acts end before the simulation does.
    guard network.now < Self.end + .seconds(-10) else { return }
    network.schedule(.act, after: network.delay(1..<4_000))
    for _ in 0..<(network.generator.oneIn(50) ? 50 : 1) {
      let (identifier, act) = acts.next(isBan: network.generator.oneIn(2))
      session.carryOut(ActRequest(identifier: identifier, act: act), at: network.now)
      if network.generator.oneIn(20) {
        network.schedule(.withdraw(identifier), after: network.delay(0..<300))
      }
    }
  }

  /// Answers a request for an act with a fault of Twitch or of the network. Returns whether there
  /// is a fault.
  private mutating func answerWithFault(_ id: Int, _ request: EventSubRequest) -> Bool {
    switch network.generator.pick(0..<60) {
    case 0:
      let reset = network.now + network.delay(0..<6_000)
      network.schedule(.answer(id, 429, .null, reset: reset), after: network.delay())
    case 1:
      let answer = server.answer("\(request.method)", request.path, request.body, token: token)
      network.schedule(
        .answer(id, answer.status, answer.body), after: network.delay(3_000..<6_000))
    case 2:
      _ = server.answer("\(request.method)", request.path, request.body, token: token)
      network.schedule(.answer(id, 503, .null), after: network.delay())
    default: return false
    }
    return true
  }

  private mutating func answer(_ id: Int, _ request: EventSubRequest, _ token: Int) {
    let isAct = request.path.hasPrefix("/helix/chat") || request.path.hasPrefix("/helix/moderation")
    if isAct, answerWithFault(id, request) { return }
    if network.isDown || failsRequests > 0 {
      failsRequests = max(0, failsRequests - 1)
      let isLost = network.generator.oneIn(2)
      return network.schedule(
        isLost ? .failed(id) : .answer(id, 503, .null), after: network.delay())
    }
    let answer = server.answer("\(request.method)", request.path, request.body, token: token)
    // The answer is lost, but the server has carried out the request.
    let isLost = network.generator.oneIn(40)
    network.schedule(
      isLost ? .failed(id) : .answer(id, answer.status, answer.body), after: network.delay())
    if network.firstReach[Self.channel] == nil,
      network.connections.values.contains(where: { reaches($0) && $0.isOpenAtClient })
    {
      network.firstReach[Self.channel] = network.now
    }
  }

  private func reaches(_ connection: VirtualConnection<Peer>) -> Bool {
    connection.isServed && !connection.peer.isReplaced
      && server.has(connection.peer.session, "channel.chat.message") != nil
  }

  private mutating func send(_ message: JSONValue, to id: Int, name: String? = nil) {
    guard let connection = network.connections[id], connection.isServed else { return }
    network.schedule(.toClient(id, message, message: name), after: connection.down)
  }

  mutating func chat() {
    let name = network.newMessage(in: Self.channel)
    for id in network.served {
      guard let connection = network.connections[id], reaches(connection) else { continue }
      let message = Message.notification(id: name, text: name)
      send(message, to: id, name: name)
      if network.generator.oneIn(20) { send(message, to: id) }
    }
  }

  mutating func strike(_ fault: Fault, _ open: [Int]) {
    switch fault {
    case .reconnect, .badReconnect:
      refusesCalls = fault == .badReconnect
      for id in open {
        guard let name = network.connections[id]?.peer.session else { continue }
        let url = "wss://events.example/ws?reconnect_id=\(name)-\(calls.count)"
        calls[HTTPAddress(url, .webSocket)!.description] = name
        send(Message.reconnect(name, url), to: id)
        network.schedule(.leave(id), after: .seconds(30))
      }
    case .freeze:
      if let id = open.randomElement(using: &network.generator) {
        network.connections[id]?.isFrozen = true
      }
    case .close: for id in open { close(id) }
    case .outage: beginOrEndOutage(.outage, open)
    case .expire: server.validToken += 1
    case .requests: failsRequests = network.generator.pick(1..<6)
    }
  }

  mutating func judge() {
    network.count("conflicts", server.conflicts)
    network.violations += server.faults
    for (name, count) in acts.judge(server.performed) { network.count(name, count) }
    network.violations += acts.violations
    let status = network.statuses[Self.channel]
    if status?.state != .live {
      network.violations.append(
        "\(status?.state.rawValue ?? "nothing") in the end: \(status?.reason ?? "")")
    }
  }
}
