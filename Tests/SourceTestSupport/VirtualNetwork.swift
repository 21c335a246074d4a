package import LiveSources
package import RateLimiting
package import TestSupport

/// A connection on a virtual network, with what the server keeps of it.
package struct VirtualConnection<Peer> {
  package let up: Interval
  package let down: Interval
  package var peer: Peer
  package var isOpenAtServer = true
  package var isOpenAtClient = true
  /// Nothing arrives at either end any more, and neither end learns of it.
  package var isFrozen = false

  /// Whether the server can still send on it.
  package var isServed: Bool { isOpenAtServer && !isFrozen }
  /// Whether the session can still receive on it.
  package var isHeard: Bool { isOpenAtClient && !isFrozen }

  package init(up: Interval, down: Interval, peer: Peer) {
    (self.up, self.down, self.peer) = (up, down, peer)
  }
}

/// What happens on a virtual network. An `Int` is the number of a connection.
package enum VirtualEvent<Fault, Own> {
  case closed(Int)
  /// The server closes the connection.
  case leave(Int)
  /// The server sends a message of the chat to everybody.
  case chat
  case fault(Fault)
  case own(Own)
}

/// A message of the chat, and what became of it.
package struct VirtualMessage {
  package let channel: String
  package let sent: Instant
  package var arrivals = 0
  /// How the session passed it on each time.
  package var forwards: [String] = []
}

/// The time of a simulation, its pending events, its connections, and what has been observed.
package struct VirtualNetwork<Fault, Own, Peer> {
  package typealias Gap = (from: Instant, to: Instant)

  package internal(set) var now = Instant.origin
  package var generator: SplitMix64
  package var connections: [Int: VirtualConnection<Peer>] = [:]
  /// New connections are refused.
  package internal(set) var isDown = false
  package internal(set) var messages: [String: VirtualMessage] = [:]
  package internal(set) var gaps: [String: [Gap]] = [:]
  package var statuses: [String: SourceStatus] = [:]
  /// When the server first sent a channel to the session.
  package var firstReach: [String: Instant] = [:]
  package var counts: [String: Int] = [:]
  /// What must not have happened.
  package var violations: [String] = []
  private var events: [(time: Instant, event: VirtualEvent<Fault, Own>)] = []

  package init(generator: SplitMix64) { self.generator = generator }

  /// Events due at the same time happen in the order in which they were scheduled.
  package mutating func schedule(_ event: VirtualEvent<Fault, Own>, after delay: Interval) {
    let time = now + delay
    events.insert((time, event), at: events.firstIndex { $0.time <= time } ?? events.count)
  }

  package mutating func schedule(_ own: Own, after delay: Interval) {
    schedule(.own(own), after: delay)
  }

  /// A random delay from a range of milliseconds.
  package mutating func delay(_ range: Range<Int> = 5..<150) -> Interval {
    .milliseconds(Int64(generator.pick(range)))
  }

  package mutating func count(_ name: String, _ number: Int = 1) {
    counts[name, default: 0] += number
  }

  /// Notes a gap that the session reports.
  package mutating func gap(in channel: String, from: Instant, to: Instant) {
    count("gaps")
    if from > to { violations.append("a gap ends before it begins") }
    gaps[channel, default: []].append((from, to))
  }

  /// Begins a message that is sent now; returns its name.
  package mutating func newMessage(in channel: String) -> String {
    let name = "message-\(messages.count)"
    messages[name] = VirtualMessage(channel: channel, sent: now)
    return name
  }

  package mutating func arrived(_ name: String) { messages[name]?.arrivals += 1 }

  package mutating func forwarded(_ name: String, _ how: String) {
    messages[name]?.forwards.append("\(how) at \(now.nanoseconds / 1_000_000) ms")
  }

  /// The connections that the server can use, by their numbers.
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
