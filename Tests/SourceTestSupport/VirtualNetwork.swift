package import LiveSources
package import RateLimiting
package import TestSupport

/// A connection on a virtual network, with the state that the server keeps for the connection.
package struct VirtualConnection<Peer> {
  package let up: Interval
  package let down: Interval
  package var peer: Peer
  package var isOpenAtServer = true
  package var isOpenAtClient = true
  /// Whether the connection is silently dead: nothing arrives at either end, and neither end
  /// notices.
  package var isFrozen = false

  /// Whether the server can still send on the connection.
  package var isServed: Bool { isOpenAtServer && !isFrozen }
  /// Whether the session can still receive on the connection.
  package var isHeard: Bool { isOpenAtClient && !isFrozen }

  package init(up: Interval, down: Interval, peer: Peer) {
    (self.up, self.down, self.peer) = (up, down, peer)
  }
}

/// An event on a virtual network. An `Int` is the number of a connection.
package enum VirtualEvent<Fault, Own> {
  case closed(Int)
  /// The server closes the connection.
  case leave(Int)
  /// The server sends a chat message to all clients.
  case chat
  case fault(Fault)
  case own(Own)
}

/// A chat message and its deliveries.
package struct VirtualMessage {
  package let channel: String
  package let sent: Instant
  package var arrivals = 0
  /// The forms in which the session forwarded the message.
  package var forwards: [String] = []
}

/// The time of a simulation, its pending events, its connections, and its observations.
package struct VirtualNetwork<Fault, Own, Peer> {
  package typealias Gap = (from: Instant, to: Instant)

  package internal(set) var now = Instant.origin
  package var generator: SplitMix64
  package var connections: [Int: VirtualConnection<Peer>] = [:]
  /// Whether new connections are refused.
  package internal(set) var isDown = false
  package internal(set) var messages: [String: VirtualMessage] = [:]
  package internal(set) var gaps: [String: [Gap]] = [:]
  package var statuses: [String: SourceStatus] = [:]
  /// The time at which the server first sent a channel to the session.
  package var firstReach: [String: Instant] = [:]
  package var counts: [String: Int] = [:]
  /// Descriptions of behaviour that must not occur.
  package var violations: [String] = []
  private var events: [(time: Instant, event: VirtualEvent<Fault, Own>)] = []

  package init(generator: SplitMix64) { self.generator = generator }

  /// Schedules an event. Events due at the same time occur in the order in which they were
  /// scheduled.
  package mutating func schedule(_ event: VirtualEvent<Fault, Own>, after delay: Interval) {
    let time = now + delay
    events.insert((time, event), at: events.firstIndex { $0.time <= time } ?? events.count)
  }

  package mutating func schedule(_ own: Own, after delay: Interval) {
    schedule(.own(own), after: delay)
  }

  /// Returns a random delay from a range of milliseconds.
  package mutating func delay(_ range: Range<Int> = 5..<150) -> Interval {
    .milliseconds(Int64(generator.pick(range)))
  }

  package mutating func count(_ name: String, _ number: Int = 1) {
    counts[name, default: 0] += number
  }

  /// Records a gap that the session reports.
  package mutating func gap(in channel: String, from: Instant, to: Instant) {
    count("gaps")
    if from > to { violations.append("a gap ends before it begins") }
    gaps[channel, default: []].append((from, to))
  }

  /// Starts a message that is sent now, and returns its name.
  package mutating func newMessage(in channel: String) -> String {
    let name = "message-\(messages.count)"
    messages[name] = VirtualMessage(channel: channel, sent: now)
    return name
  }

  package mutating func arrived(_ name: String) { messages[name]?.arrivals += 1 }

  package mutating func forwarded(_ name: String, _ how: String) {
    messages[name]?.forwards.append("\(how) at \(now.nanoseconds / 1_000_000) ms")
  }

  /// The numbers of the connections that the server can use.
  package var served: [Int] {
    connections.filter { $0.value.isServed }.keys.sorted()
  }

  var nextTime: Instant? { events.last?.time }

  mutating func advance(to time: Instant) { now = max(now, time) }

  mutating func next() -> VirtualEvent<Fault, Own>? {
    guard let (time, event) = events.popLast() else { return nil }
    now = time
    return event
  }
}
