import LiveEvents
import LiveSources
import RateLimiting
import SourceTestSupport
import TestSupport
import TwitchChat

extension TwitchSession: VirtualSession {}

/// A simulation of Twitch's chat around one session.
struct VirtualTwitch: VirtualServer {
  enum Fault: CaseIterable { case reconnect, freeze, close, cut, swallow, outage }

  enum Event {
    case opened(Int)
    case toServer(Int, String)
    case toClient(Int, [UInt8], message: String?)
  }

  /// The server's side of a connection, and the client's incomplete line.
  struct Peer {
    var server: ScriptedPeer
    var splitter = LineSplitter(maximumLength: 65_536)
  }

  private struct Outage {
    var from: Instant
    var to: Instant?
  }

  static let end = Instant.origin + .seconds(1000)

  var session: TwitchSession
  var network: VirtualNetwork<Fault, Event, Peer>
  private var script = ScriptedPeer.Script()
  private var swallows = 0
  private let repeats: Bool
  private let names: [String]
  private var outages: [String: [Outage]] = [:]
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
    // Without identifiers, a repeated line cannot be distinguished from two equal lines.
    repeats = hasTags
    session = TwitchSession(settings, generator: SplitMix64(seed: seed ^ 0xABCD), at: .origin)
    network = VirtualNetwork(generator: generator)
  }

  // MARK: The session

  mutating func perform(_ effect: TwitchSession.Effect) {
    switch effect {
    case .connect(let id): connect(id)
    case .send(let id, let line):
      guard let connection = network.connections[id] else { return }
      if line.hasPrefix("JOIN ") {
        joins += line.split(separator: ",").map { _ in network.now }
      }
      network.schedule(.toServer(id, line), after: connection.up)
    case .authenticate: network.violations.append("an anonymous session sends a password")
    case .close(let id): hangUp(id)
    case .status(let channel, let status): network.statuses[channel] = status
    case .gap(let channel, let from, let to, _): network.gap(in: channel, from: from, to: to)
    case .history: network.violations.append("a session that was not told to asks for history")
    case .refused(let reason): network.violations.append("refused: \(reason)")
    }
  }

  private mutating func connect(_ id: Int) {
    let (up, down) = (network.delay(), network.delay())
    var own = script
    if swallows > 0, let name = names.randomElement(using: &network.generator) {
      own.swallowed = [name]
      swallows -= 1
      network.count("ghosts")
    }
    network.connections[id] = VirtualConnection(
      up: up, down: down, peer: Peer(server: ScriptedPeer(own)))
    if network.isDown {
      network.connections[id]?.isOpenAtServer = false
      network.schedule(.closed(id), after: .milliseconds(20))
    } else {
      network.schedule(.opened(id), after: up + down)
    }
  }

  mutating func dropped(_ id: Int) { recordReach() }

  private func reaches(_ channel: String, on id: Int) -> Bool {
    guard let connection = network.connections[id] else { return false }
    return connection.isServed && connection.peer.server.joined.contains(channel)
  }

  /// Records the channels for which the server reaches no client.
  private mutating func recordReach() {
    for name in names {
      let isReached = network.connections.contains {
        $0.value.isOpenAtClient && reaches(name, on: $0.key)
      }
      if isReached {
        if network.firstReach[name] == nil { network.firstReach[name] = network.now }
        if let last = outages[name]?.indices.last, outages[name]?[last].to == nil {
          outages[name]?[last].to = network.now
        }
      } else if network.firstReach[name] != nil, outages[name]?.last.map({ $0.to != nil }) ?? true {
        outages[name, default: []].append(Outage(from: network.now))
      }
    }
  }

  // MARK: Events

  mutating func handle(_ event: Event) {
    switch event {
    case .opened(let id):
      guard network.connections[id]?.isOpenAtClient == true else { return }
      session.opened(id, at: network.now)
    case .toServer(let id, let line):
      guard network.connections[id]?.isServed == true else { return }
      for answer in network.connections[id]?.peer.server.answer(line) ?? [] { send(answer, to: id) }
      if line.hasPrefix("JOIN") { recordReach() }
    case .toClient(let id, let bytes, let message): receive(bytes, message, on: id)
    }
  }

  private mutating func send(_ line: String, to id: Int, message: String? = nil) {
    guard let connection = network.connections[id], connection.isServed else { return }
    network.schedule(
      .toClient(id, Array((line + "\r\n").utf8), message: message), after: connection.down)
  }

  private mutating func receive(_ bytes: [UInt8], _ message: String?, on id: Int) {
    guard let connection = network.connections[id], connection.isHeard else { return }
    var splitter = connection.peer.splitter
    if let message { network.arrived(message) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(network.generator.pick(1..<200)))
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { piece in
        splitter.receive(piece) { line in
          guard session.receive(line, on: id, at: network.now) != .ignore else { return }
          let text = String(decoding: line, as: UTF8.self)
          guard let name = text.split(separator: ":").last, text.contains("message-") else {
            return
          }
          network.forwarded(String(name), "\(id): \(text)")
        }
      }
    }
    network.connections[id]?.peer.splitter = splitter
  }

  mutating func chat() {
    let channel = names[network.generator.pick(0..<names.count)]
    let id = network.newMessage(in: channel)
    // A ban has no identifier.
    let isBan = network.generator.oneIn(10)
    for key in network.connections.keys.sorted() where reaches(channel, on: key) {
      let hasTags = network.connections[key]?.peer.server.hasTags == true
      let time = network.now.nanoseconds / 1_000_000
      let tags = hasTags ? "@\(isBan ? "" : "id=\(id);")tmi-sent-ts=\(time) " : ""
      let line =
        isBan
        ? "\(tags):tmi.twitch.tv CLEARCHAT #\(channel) :\(id)"
        : "\(tags):ada!ada@ada.tmi.twitch.tv PRIVMSG #\(channel) :\(id)"
      send(line, to: key, message: id)
      if repeats, !isBan, network.generator.oneIn(20) { send(line, to: key) }
    }
  }

  mutating func strike(_ fault: Fault, _ open: [Int]) {
    switch fault {
    case .reconnect:
      for id in open {
        send(":tmi.twitch.tv RECONNECT", to: id)
        network.schedule(.leave(id), after: network.delay(500..<30_000))
      }
    case .freeze:
      if let id = open.randomElement(using: &network.generator) {
        network.connections[id]?.isFrozen = true
      }
      recordReach()
    case .close: for id in open where network.generator.oneIn(2) { close(id) }
    case .cut:
      if let id = open.randomElement(using: &network.generator) { cut(id, open) }
    case .swallow: swallows += 1
    case .outage: beginOrEndOutage(.outage, open)
    }
  }

  /// Closes a connection in the middle of a message, which the other connections get completely.
  private mutating func cut(_ id: Int, _ open: [Int]) {
    guard let connection = network.connections[id],
      let channel = connection.peer.server.joined.sorted()
        .randomElement(using: &network.generator)
    else { return }
    let name = network.newMessage(in: channel)
    let text = "@id=\(name) :ada!ada@ada PRIVMSG #\(channel) :\(name)"
    for key in open where key != id && reaches(channel, on: key) {
      send(text, to: key, message: name)
    }
    let line = Array((text + "\r\n").utf8)
    let part = Array(line.prefix(network.generator.pick(1..<line.count)))
    network.schedule(.toClient(id, part, message: nil), after: connection.down)
    close(id)
  }

  // MARK: Judging

  mutating func judge() {
    for (channel, gaps) in network.gaps.sorted(by: { $0.key < $1.key }) {
      for gap in gaps where !isHonest(gap, channel) {
        network.violations.append("a gap of \(channel) is longer than what was missed: \(gap)")
      }
    }
    for name in names where network.statuses[name]?.state != .live {
      let state = network.statuses[name]?.state.rawValue
      network.violations.append("\(name) is \(state ?? "nothing") in the end")
    }
    for connection in network.connections.values {
      network.violations += connection.peer.server.faults
    }
    for first in joins
    where joins.filter({ $0 >= first && $0 - first < .seconds(10) }).count > 20 {
      network.violations.append("more than 20 joins in ten seconds")
      break
    }
  }

  private func isHonest(_ gap: (from: Instant, to: Instant), _ channel: String) -> Bool {
    var missed = Interval.zero
    for outage in outages[channel] ?? [] {
      let (from, to) = (max(outage.from, gap.from), min(outage.to ?? network.now, gap.to))
      if to > from { missed = missed + (to - from) }
    }
    // The tolerance covers the silence after which the session sends a ping, the time limit of the
    // answer, and the transit time.
    return gap.to - gap.from <= missed + .seconds(42)
  }
}
