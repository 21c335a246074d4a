package import LiveSources
package import RateLimiting
import TestSupport

/// The session of a live source, as driven by a simulation.
package protocol VirtualSession: SourceSession {
  mutating func closed(_ id: Int, reason: String, at now: Instant)
}

/// A platform's server and a network on virtual time, around one session. The seed determines the
/// faults.
package protocol VirtualServer {
  associatedtype Session: VirtualSession
  associatedtype Fault: CaseIterable & Hashable
  /// The events of this server, in addition to those of every network.
  associatedtype Event
  /// The server's state for a connection.
  associatedtype Peer

  static var end: Instant { get }
  var session: Session { get set }
  var network: VirtualNetwork<Fault, Event, Peer> { get set }

  init(seed: UInt64)
  mutating func perform(_ effect: Session.Effect)
  mutating func handle(_ event: Event)
  /// Sends a new chat message.
  mutating func chat()
  /// - Parameter open: The connections on which the server can send.
  mutating func strike(_ fault: Fault, _ open: [Int])
  /// Called when a connection has ended at the server.
  mutating func dropped(_ id: Int)
  /// Adds the server's own violations and counts at the end.
  mutating func judge()
}

extension VirtualServer {
  /// Runs one schedule for each seed. Returns the violations, and the counts of everything else;
  /// faults are counted by name.
  package static func run(
    seeds: ClosedRange<UInt64>
  ) -> (violations: [String], counts: [String: Int]) {
    var (violations, counts) = ([String](), [String: Int]())
    for seed in seeds {
      var server = Self(seed: seed)
      server.run()
      violations += server.network.violations.prefix(5).map { "seed \(seed): \($0)" }
      counts.merge(server.network.counts, uniquingKeysWith: +)
    }
    return (violations, counts)
  }

  private mutating func run() {
    network.schedule(.chat, after: .seconds(1))
    for _ in 0..<network.generator.pick(4..<16) {
      let delay = network.delay(5_000..<600_000)
      if let fault = Fault.allCases.randomElement(using: &network.generator) {
        network.schedule(.fault(fault), after: delay)
      }
    }
    var wakesNow = 0
    while network.now < Self.end {
      settle()
      let next = network.nextTime
      if let deadline = session.deadline, next.map({ deadline <= $0 }) ?? true {
        wakesNow = deadline <= network.now ? wakesNow + 1 : 0
        guard wakesNow <= 1_000 else {
          network.violations.append("the session does not sleep")
          break
        }
        network.advance(to: deadline)
        session.wake(at: network.now)
      } else if let event = network.next() {
        handle(event)
      } else {
        break
      }
    }
    settle()
    judgeMessages()
    judge()
  }

  private mutating func settle() {
    while case let effects = session.takeEffects(), !effects.isEmpty {
      for effect in effects { perform(effect) }
    }
  }

  private mutating func handle(_ event: VirtualEvent<Fault, Event>) {
    switch event {
    case .closed(let id):
      guard network.connections[id]?.isHeard == true else { return }
      network.connections[id]?.isOpenAtClient = false
      session.closed(id, reason: "closed", at: network.now)
    case .leave(let id): close(id)
    case .chat:
      guard network.now < Self.end + .seconds(-5) else { return }
      network.schedule(.chat, after: network.delay(1..<400))
      chat()
    case .fault(let fault):
      network.count("\(fault)")
      strike(fault, network.served)
    case .own(let event): handle(event)
    }
  }

  /// Closes a connection from the server's side.
  package mutating func close(_ id: Int) {
    guard let connection = network.connections[id], connection.isOpenAtServer else { return }
    network.schedule(.closed(id), after: connection.down)
    drop(id)
  }

  /// Closes a connection from the session's side.
  package mutating func hangUp(_ id: Int) {
    network.connections[id]?.isOpenAtClient = false
    drop(id)
  }

  private mutating func drop(_ id: Int) {
    guard network.connections[id]?.isOpenAtServer == true else { return }
    network.connections[id]?.isOpenAtServer = false
    dropped(id)
  }

  /// Ends all connections and refuses new ones for up to a minute. Repeating the same fault ends
  /// the outage.
  package mutating func beginOrEndOutage(_ fault: Fault, _ open: [Int]) {
    network.isDown.toggle()
    guard network.isDown else { return }
    for id in open { close(id) }
    network.schedule(.fault(fault), after: network.delay(100..<60_000))
  }

  // MARK: Checks

  private mutating func judgeMessages() {
    network.count("messages", network.messages.count)
    network.count("duplicates", session.duplicates)
    for (name, message) in network.messages.sorted(by: { $0.key < $1.key }) {
      if message.forwards.count > 1 {
        network.violations.append("\(name) was forwarded twice: \(message.forwards)")
      }
      guard message.forwards.isEmpty else { continue }
      if message.arrivals > 0 {
        network.violations.append("\(name) arrived and was not forwarded")
      }
      judgeLoss(of: message, name)
    }
  }

  /// Checks that a message which was sent to no client, or did not arrive, is within a reported
  /// gap.
  private mutating func judgeLoss(of message: VirtualMessage, _ name: String) {
    guard let first = network.firstReach[message.channel], message.sent >= first else { return }
    network.count("lost")
    let gaps = network.gaps[message.channel] ?? []
    if !gaps.contains(where: { $0.from <= message.sent && message.sent <= $0.to }) {
      network.violations.append("\(name) of \(message.sent) is missing without a gap")
    }
  }
}
