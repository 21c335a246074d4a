import JSON
import LiveEvents
import LiveSources
import PlatformFormats
import RateLimiting
import TestSupport
import TwitchEvents

/// A Twitch and a network on virtual time, around one session, with faults that the seed decides.
struct VirtualEventSub {
  enum Fault: CaseIterable { case reconnect, badReconnect, freeze, close, outage, expire, requests }

  /// What was seen over a run.
  struct Counts {
    var messages = 0
    var forwarded = 0
    var lost = 0
    var gaps = 0
    var duplicates = 0
    var conflicts = 0
    var renewals = 0
    var viewers = 0
    var faults: [Fault: Int] = [:]
  }

  private enum Event {
    case opened(Int)
    case toClient(Int, JSONValue, message: String?)
    case closed(Int)
    case request(Int, EventSubRequest, token: Int)
    case answer(Int, Int, JSONValue)
    case failed(Int)
    case renewed(Int)
    case keepalive(Int)
    case chat
    case fault(Fault)
    case leave(Int)
    case forget(String)
    case unused(Int)
  }

  private struct Connection {
    let down: Interval
    var session: String
    var isOpenAtServer = true
    var isOpenAtClient = true
    var isFrozen = false
    /// It has taken over from another one, which is still read.
    var isReplaced = false
  }

  private struct Chat {
    let sent: Instant
    var arrivals = 0
    var forwards = 0
  }

  static let faultsEnd = 600
  static let end = Instant.origin + .seconds(900)

  private(set) var session: EventSubSession
  private(set) var counts = Counts()
  /// What must not have happened.
  private(set) var violations: [String] = []
  private var server = ScriptedEventSub()
  private var generator: SplitMix64
  private var now = Instant.origin
  private var events: [(time: Instant, order: Int, event: Event)] = []
  private var order = 0
  private var connections: [Int: Connection] = [:]
  private var messages: [String: Chat] = [:]
  private var gaps: [(from: Instant, to: Instant)] = []
  private var firstReach: Instant?
  private var token = ScriptedEventSub.token
  private var isDown = false
  private var failsRequests = 0
  /// Sessions by the addresses to which they are called.
  private var calls: [String: String] = [:]
  private var refusesCalls = false
  private var status: SourceStatus?
  private var wakesNow = 0

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
    session = EventSubSession(
      EventSubSettings(
        channel: "ada", address: HTTPAddress("wss://events.example/ws", .webSocket)!),
      generator: SplitMix64(seed: seed ^ 0xABCD), at: now)
  }

  // MARK: Running

  mutating func run() {
    schedule(.chat, after: .seconds(1))
    for _ in 0..<generator.pick(4..<16) {
      let fault = Fault.allCases[generator.pick(0..<Fault.allCases.count)]
      schedule(
        .fault(fault), after: .milliseconds(Int64(generator.pick(5_000..<Self.faultsEnd * 1_000))))
    }
    while now < Self.end {
      settle()
      let next = events.last?.time
      if let deadline = session.deadline, next.map({ deadline <= $0 }) ?? true {
        wakesNow = deadline <= now ? wakesNow + 1 : 0
        guard wakesNow < 1_000 else {
          violations.append("the session does not sleep")
          break
        }
        now = max(now, deadline)
        session.wake(at: now)
      } else if let entry = events.popLast() {
        now = entry.time
        handle(entry.event)
      } else {
        break
      }
    }
    settle()
    judge()
  }

  private mutating func schedule(_ event: Event, after delay: Interval) {
    order += 1
    let time = now + delay
    let index = events.firstIndex { $0.time <= time } ?? events.count
    events.insert((time, order, event), at: index)
  }

  private mutating func delay(_ range: Range<Int> = 5..<150) -> Interval {
    .milliseconds(Int64(generator.pick(range)))
  }

  private mutating func settle() {
    var effects = session.takeEffects()
    while !effects.isEmpty {
      for effect in effects { perform(effect) }
      effects = session.takeEffects()
    }
  }

  private mutating func perform(_ effect: EventSubSession.Effect) {
    switch effect {
    case .connect(let id, let address): connect(id, address)
    case .close(let id):
      connections[id]?.isOpenAtClient = false
      drop(id)
    case .ask(let id, let request): schedule(.request(id, request, token: token), after: delay())
    case .renewToken:
      counts.renewals += 1
      schedule(.renewed(server.validToken), after: delay())
    case .event(let notification):
      guard let id = notification.event["message_id"]?.stringValue else { break }
      messages[id]?.forwards += 1
    case .viewers: counts.viewers += 1
    case .status(let status): self.status = status
    case .gap(let from, let to, _):
      counts.gaps += 1
      if from > to { violations.append("a gap ends before it begins") }
      gaps.append((from, to))
    case .refused(let reason): violations.append("refused: \(reason)")
    }
  }

  private mutating func connect(_ id: Int, _ address: HTTPAddress) {
    let (up, down) = (delay(), delay())
    let called = calls[address.description]
    connections[id] = Connection(down: down, session: called ?? server.newSession())
    let isRefused = isDown || called != nil && refusesCalls
    schedule(isRefused ? .closed(id) : .opened(id), after: up + down)
    if isRefused { connections[id]?.isOpenAtServer = false }
  }

  /// The connection is gone at the server.
  private mutating func drop(_ id: Int) {
    guard let connection = connections[id], connection.isOpenAtServer else { return }
    connections[id]?.isOpenAtServer = false
    let isElsewhere = connections.contains {
      $0.key != id && $0.value.session == connection.session && $0.value.isOpenAtServer
    }
    guard !isElsewhere else { return }
    server.lost(connection.session)
    schedule(.forget(connection.session), after: delay(0..<40_000))
  }

  // MARK: Events

  private mutating func handle(_ event: Event) {
    switch event {
    case .opened(let id):
      guard let connection = connections[id], connection.isOpenAtClient, !connection.isFrozen,
        connection.isOpenAtServer
      else { return }
      session.opened(id, at: now)
      // Of the former connections of the session nothing more is sent.
      for other in connections.keys where other != id {
        if connections[other]?.session == connection.session {
          connections[other]?.isReplaced = true
          schedule(.leave(other), after: .seconds(30))
        }
      }
      send(Message.welcome(connection.session), to: id)
      schedule(.keepalive(id), after: .seconds(10))
      schedule(.unused(id), after: .seconds(10))
    case .toClient(let id, let message, let name): receive(message, name, on: id)
    case .closed(let id):
      guard connections[id]?.isOpenAtClient == true, connections[id]?.isFrozen == false else {
        return
      }
      connections[id]?.isOpenAtClient = false
      session.closed(id, reason: "closed", at: now)
    case .request(let id, let request, let token):
      if isDown || failsRequests > 0 {
        failsRequests = max(0, failsRequests - 1)
        return schedule(generator.oneIn(2) ? .failed(id) : .answer(id, 503, .null), after: delay())
      }
      let answer = server.answer(
        "\(request.method)", request.path, request.body, token: token)
      // An answer that is lost on its way: the server has done it.
      schedule(
        generator.oneIn(40) ? .failed(id) : .answer(id, answer.status, answer.body), after: delay())
      if firstReach == nil, isReached { firstReach = now }
    case .answer(let id, let status, let body):
      session.answered(id, status: status, body, at: now)
    case .failed(let id): session.failed(id, reason: "no answer", at: now)
    case .renewed(let token):
      self.token = token
      session.renewed(.done, at: now)
    case .keepalive(let id):
      guard connections[id]?.isOpenAtServer == true else { return }
      send(Message.of("session_keepalive"), to: id)
      schedule(.keepalive(id), after: .seconds(10))
    case .chat: chat()
    case .fault(let fault): strike(fault)
    case .leave(let id): close(id)
    case .forget(let name): server.forget(name)
    case .unused(let id):
      guard let name = connections[id]?.session,
        !server.subscriptions.contains(where: { $0.session == name })
      else { return }
      close(id)
    }
  }

  private var isReached: Bool {
    connections.values.contains { reaches($0) && $0.isOpenAtClient }
  }

  private func reaches(_ connection: Connection) -> Bool {
    connection.isOpenAtServer && !connection.isFrozen && !connection.isReplaced
      && server.has(connection.session, "channel.chat.message") != nil
  }

  private mutating func send(_ message: JSONValue, to id: Int, name: String? = nil) {
    guard let connection = connections[id], connection.isOpenAtServer, !connection.isFrozen else {
      return
    }
    schedule(.toClient(id, message, message: name), after: connection.down)
  }

  private mutating func receive(_ message: JSONValue, _ name: String?, on id: Int) {
    guard let connection = connections[id], connection.isOpenAtClient, !connection.isFrozen else {
      return
    }
    if let name { messages[name]?.arrivals += 1 }
    session.receive(message, on: id, at: now)
  }

  private mutating func chat() {
    guard now < Self.end + .seconds(-5) else { return }
    schedule(.chat, after: delay(1..<400))
    let name = "message-\(messages.count)"
    messages[name] = Chat(sent: now)
    for id in connections.keys.sorted() {
      guard let connection = connections[id], reaches(connection) else { continue }
      let message = Message.notification(id: name, text: name)
      send(message, to: id, name: name)
      if generator.oneIn(20) { send(message, to: id) }
    }
  }

  private mutating func strike(_ fault: Fault) {
    counts.faults[fault, default: 0] += 1
    let open = connections.keys.sorted().filter {
      connections[$0]?.isOpenAtServer == true && connections[$0]?.isFrozen == false
    }
    switch fault {
    case .reconnect, .badReconnect:
      refusesCalls = fault == .badReconnect
      for id in open {
        guard let name = connections[id]?.session else { continue }
        let url = "wss://events.example/ws?reconnect_id=\(name)-\(order)"
        calls[HTTPAddress(url, .webSocket)!.description] = name
        send(Message.reconnect(name, url), to: id)
        schedule(.leave(id), after: .seconds(30))
      }
    case .freeze:
      if let id = open.randomElement(using: &generator) { connections[id]?.isFrozen = true }
    case .close: for id in open { close(id) }
    case .outage:
      isDown.toggle()
      if isDown {
        for id in open { close(id) }
        schedule(.fault(.outage), after: delay(100..<60_000))
      }
    case .expire: server.validToken += 1
    case .requests: failsRequests = generator.pick(1..<6)
    }
  }

  private mutating func close(_ id: Int) {
    guard let connection = connections[id], connection.isOpenAtServer else { return }
    schedule(.closed(id), after: connection.down)
    drop(id)
  }

  // MARK: Judging

  private mutating func judge() {
    counts.messages = messages.count
    counts.duplicates = session.duplicates
    counts.conflicts = server.conflicts
    violations += server.faults
    for (name, message) in messages.sorted(by: { $0.key < $1.key }) {
      counts.forwarded += message.forwards
      if message.forwards > 1 { violations.append("\(name) was forwarded twice") }
      if message.arrivals > 0, message.forwards == 0 {
        violations.append("\(name) arrived and was not forwarded")
      }
      guard message.forwards == 0, let first = firstReach, message.sent >= first else { continue }
      counts.lost += 1
      if !gaps.contains(where: { $0.from <= message.sent && message.sent <= $0.to }) {
        violations.append("\(name) of \(message.sent) is missing without a gap")
      }
    }
    if status?.state != .live {
      violations.append(
        "\(status?.state.rawValue ?? "nothing") in the end: \(status?.reason ?? "")")
    }
  }
}
