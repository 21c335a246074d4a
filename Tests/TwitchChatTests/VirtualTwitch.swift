import LiveEvents
import LiveSources
import RateLimiting
import SourceTestSupport
import TestSupport
import TwitchChat

/// A Twitch and a network on virtual time, around one session, with faults that the seed decides.
struct VirtualTwitch {
  enum Fault: CaseIterable { case reconnect, freeze, close, cut, swallow, outage }

  /// What was seen over a run.
  struct Counts {
    var messages = 0
    var forwarded = 0
    var lost = 0
    var gaps = 0
    var duplicates = 0
    var connections = 0
    var faults: [Fault: Int] = [:]
    var ghosts = 0
  }

  private enum Event {
    case opened(Int)
    case toServer(Int, String)
    case toClient(Int, [UInt8], message: String?)
    case closed(Int)
    case chat
    case fault(Fault)
    case leave(Int)
  }

  private struct Connection {
    let up: Interval
    let down: Interval
    var peer: ScriptedPeer
    var splitter = LineSplitter(maximumLength: 65_536)
    var isOpenAtServer = true
    var isOpenAtClient = true
    var isFrozen = false

    func reaches(_ channel: String) -> Bool {
      isOpenAtServer && !isFrozen && peer.joined.contains(channel)
    }
  }

  private struct Message {
    let channel: String
    let sent: Instant
    var arrivals = 0
    /// The connections on which it was forwarded, and when.
    var forwards: [String] = []
  }

  private struct Outage {
    var from: Instant
    var to: Instant?
  }

  static let faultsEnd = Instant.origin + .seconds(600)
  static let end = Instant.origin + .seconds(1000)

  private(set) var session: TwitchSession
  private(set) var counts = Counts()
  /// What must not have happened.
  private(set) var violations: [String] = []
  private var generator: SplitMix64
  private var now = Instant.origin
  private var events: [(time: Instant, order: Int, event: Event)] = []
  private var order = 0
  private var connections: [Int: Connection] = [:]
  private var messages: [String: Message] = [:]
  private var script = ScriptedPeer.Script()
  private var swallows = 0
  private var wakesNow = 0
  private var isDown = false
  private let repeats: Bool
  private let names: [String]
  private var outages: [String: [Outage]] = [:]
  /// When the server first reached somebody.
  private var firstReach: [String: Instant] = [:]
  private var gaps: [String: [(from: Instant, to: Instant)]] = [:]
  private var statuses: [String: SourceStatus] = [:]
  private var joins: [Instant] = []

  init(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    names = (0..<[1, 3, 60][generator.pick(0..<3)]).map { "channel\($0)" }
    var settings = TwitchSettings(channels: names)
    settings.channelsPerConnection = [1, 2, 25][generator.pick(0..<3)]
    if names.count == 60 { settings.channelsPerConnection = 25 }
    script.refusesTogether = generator.oneIn(4)
    let hasTags = !generator.oneIn(6)
    if !hasTags { script.unknown = ["twitch.tv/tags"] }
    // Without identifiers nobody could tell a line that was sent twice from two equal ones.
    repeats = hasTags
    session = TwitchSession(settings, generator: SplitMix64(seed: seed ^ 0xABCD), at: now)
    self.generator = generator
  }

  // MARK: Running

  mutating func run() {
    schedule(.chat, after: .seconds(1))
    for _ in 0..<generator.pick(4..<16) {
      let time = Int64(generator.pick(5_000..<600_000))
      let fault = Fault.allCases[generator.pick(0..<Fault.allCases.count)]
      schedule(.fault(fault), after: .milliseconds(time))
    }
    while now < Self.end {
      settle()
      let next = events.last?.time
      if let deadline = session.deadline, next.map({ deadline <= $0 }) ?? true {
        wakesNow = deadline <= now ? wakesNow + 1 : 0
        if wakesNow > 1000 {
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
    let entry = (time: now + delay, order: order, event: event)
    let index = events.firstIndex { $0.time <= entry.time } ?? events.count
    events.insert(entry, at: index)
  }

  private mutating func settle() {
    var effects = session.takeEffects()
    while !effects.isEmpty {
      for effect in effects { perform(effect) }
      effects = session.takeEffects()
    }
  }

  private mutating func perform(_ effect: TwitchSession.Effect) {
    switch effect {
    case .connect(let id): connect(id)
    case .send(let id, let line):
      guard let connection = connections[id] else { return }
      if line.hasPrefix("JOIN ") {
        joins += line.split(separator: ",").map { _ in now }
      }
      schedule(.toServer(id, line), after: connection.up)
    case .authenticate: violations.append("an anonymous session sends a password")
    case .close(let id):
      connections[id]?.isOpenAtClient = false
      drop(id)
    case .status(let channel, let status): statuses[channel] = status
    case .gap(let channel, let from, let to, _):
      counts.gaps += 1
      if from > to { violations.append("a gap ends before it begins") }
      gaps[channel, default: []].append((from, to))
    case .history: violations.append("a session that was not told to asks for history")
    case .refused(let reason): violations.append("refused: \(reason)")
    }
  }

  private mutating func connect(_ id: Int) {
    counts.connections += 1
    let up = Interval.milliseconds(Int64(generator.pick(5..<150)))
    let down = Interval.milliseconds(Int64(generator.pick(5..<150)))
    var own = script
    if swallows > 0, let name = names.randomElement(using: &generator) {
      own.swallowed = [name]
      swallows -= 1
      counts.ghosts += 1
    }
    connections[id] = Connection(up: up, down: down, peer: ScriptedPeer(own))
    if isDown {
      connections[id]?.isOpenAtServer = false
      schedule(.closed(id), after: .milliseconds(20))
    } else {
      schedule(.opened(id), after: up + down)
    }
  }

  private mutating func drop(_ id: Int) {
    connections[id]?.isOpenAtServer = false
    note()
  }

  /// Notes for which channels the server reaches nobody.
  private mutating func note() {
    for name in names {
      let isReached = connections.values.contains { $0.reaches(name) && $0.isOpenAtClient }
      if isReached {
        if firstReach[name] == nil { firstReach[name] = now }
        if let last = outages[name]?.indices.last, outages[name]?[last].to == nil {
          outages[name]?[last].to = now
        }
      } else if firstReach[name] != nil, outages[name]?.last.map({ $0.to != nil }) ?? true {
        outages[name, default: []].append(Outage(from: now))
      }
    }
  }

  // MARK: Events

  private mutating func handle(_ event: Event) {
    switch event {
    case .opened(let id):
      guard connections[id]?.isOpenAtClient == true else { return }
      session.opened(id, at: now)
    case .toServer(let id, let line):
      guard connections[id]?.isOpenAtServer == true, connections[id]?.isFrozen == false else {
        return
      }
      for answer in connections[id]?.peer.answer(line) ?? [] { send(answer, to: id) }
      if line.hasPrefix("JOIN") { note() }
    case .toClient(let id, let bytes, let message): receive(bytes, message, on: id)
    case .closed(let id):
      guard connections[id]?.isOpenAtClient == true, connections[id]?.isFrozen == false else {
        return
      }
      connections[id]?.isOpenAtClient = false
      session.closed(id, reason: "closed", at: now)
    case .chat: chat()
    case .fault(let fault): strike(fault)
    case .leave(let id): close(id)
    }
  }

  private mutating func send(_ line: String, to id: Int, message: String? = nil) {
    guard let connection = connections[id], connection.isOpenAtServer, !connection.isFrozen else {
      return
    }
    schedule(.toClient(id, Array((line + "\r\n").utf8), message: message), after: connection.down)
  }

  private mutating func receive(_ bytes: [UInt8], _ message: String?, on id: Int) {
    guard var splitter = connections[id]?.splitter, connections[id]?.isOpenAtClient == true,
      connections[id]?.isFrozen == false
    else { return }
    if let message { messages[message]?.arrivals += 1 }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(generator.pick(1..<200)))
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { piece in
        splitter.receive(piece) { line in
          guard session.receive(line, on: id, at: now) != .ignore else { return }
          let text = String(decoding: line, as: UTF8.self)
          guard let name = text.split(separator: ":").last, text.contains("message-") else {
            return
          }
          messages[String(name)]?.forwards.append(
            "\(id) at \(now.nanoseconds / 1_000_000) ms: \(text)")
        }
      }
    }
    connections[id]?.splitter = splitter
  }

  private mutating func chat() {
    guard now < Self.end + .seconds(-5) else { return }
    schedule(.chat, after: .milliseconds(Int64(generator.pick(1..<400))))
    let channel = names[generator.pick(0..<names.count)]
    let id = "message-\(messages.count)"
    messages[id] = Message(channel: channel, sent: now)
    // A ban has no identifier.
    let isBan = generator.oneIn(10)
    for key in connections.keys.sorted() where connections[key]?.reaches(channel) == true {
      let hasTags = connections[key]?.peer.hasTags == true
      let tags =
        hasTags ? "@\(isBan ? "" : "id=\(id);")tmi-sent-ts=\(now.nanoseconds / 1_000_000) " : ""
      let line =
        isBan
        ? "\(tags):tmi.twitch.tv CLEARCHAT #\(channel) :\(id)"
        : "\(tags):ada!ada@ada.tmi.twitch.tv PRIVMSG #\(channel) :\(id)"
      send(line, to: key, message: id)
      if repeats, !isBan, generator.oneIn(20) { send(line, to: key) }
    }
  }

  private mutating func strike(_ fault: Fault) {
    counts.faults[fault, default: 0] += 1
    let open = connections.keys.sorted().filter {
      connections[$0]?.isOpenAtServer == true && connections[$0]?.isFrozen == false
    }
    switch fault {
    case .reconnect:
      for id in open {
        send(":tmi.twitch.tv RECONNECT", to: id)
        schedule(.leave(id), after: .milliseconds(Int64(generator.pick(500..<30_000))))
      }
    case .freeze:
      if let id = open.randomElement(using: &generator) { connections[id]?.isFrozen = true }
      note()
    case .close: for id in open where generator.oneIn(2) { close(id) }
    case .cut:
      guard let id = open.randomElement(using: &generator), let down = connections[id]?.down,
        let channel = connections[id]?.peer.joined.sorted().randomElement(using: &generator)
      else { return }
      let name = "message-\(messages.count)"
      messages[name] = Message(channel: channel, sent: now)
      let text = "@id=\(name) :ada!ada@ada PRIVMSG #\(channel) :\(name)"
      for key in open where key != id && connections[key]?.reaches(channel) == true {
        send(text, to: key, message: name)
      }
      let line = Array((text + "\r\n").utf8)
      let part = Array(line.prefix(generator.pick(1..<line.count)))
      schedule(.toClient(id, part, message: nil), after: down)
      close(id)
    case .swallow: swallows += 1
    case .outage:
      isDown.toggle()
      if isDown {
        for id in open { close(id) }
        schedule(.fault(.outage), after: .milliseconds(Int64(generator.pick(100..<60_000))))
      }
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
    for (name, message) in messages.sorted(by: { $0.key < $1.key }) {
      counts.forwarded += message.forwards.count
      if message.forwards.count > 1 {
        violations.append("forwarded twice: \(message.forwards)")
      }
      if message.arrivals > 0, message.forwards.isEmpty {
        violations.append("\(name) arrived and was not forwarded")
      }
      if message.forwards.isEmpty { judge(lost: message, name) }
    }
    for (channel, gaps) in gaps.sorted(by: { $0.key < $1.key }) {
      for gap in gaps where !isHonest(gap, channel) {
        violations.append("a gap of \(channel) is longer than what was missed: \(gap)")
      }
    }
    for name in names where statuses[name]?.state != .live {
      violations.append("\(name) is \(statuses[name]?.state.rawValue ?? "nothing") in the end")
    }
    for connection in connections.values { violations += connection.peer.faults }
    for first in joins
    where joins.filter({ $0 >= first && $0 - first < .seconds(10) }).count > 20 {
      violations.append("more than 20 joins in ten seconds")
      break
    }
  }

  /// A message that nobody was sent, or that did not arrive, belongs to a gap that was told.
  private mutating func judge(lost message: Message, _ name: String) {
    guard let first = firstReach[message.channel], message.sent >= first else { return }
    counts.lost += 1
    let isTold = gaps[message.channel]?.contains {
      $0.from <= message.sent && message.sent <= $0.to
    }
    if isTold != true { violations.append("\(name) of \(message.sent) is missing without a gap") }
  }

  private func isHonest(_ gap: (from: Instant, to: Instant), _ channel: String) -> Bool {
    var missed = Interval.zero
    for outage in outages[channel] ?? [] {
      let (from, to) = (max(outage.from, gap.from), min(outage.to ?? now, gap.to))
      if to > from { missed = missed + (to - from) }
    }
    // What could not be known: the silence before a peer was asked, its time to answer, the way there.
    return gap.to - gap.from <= missed + .seconds(42)
  }
}
