import RateLimiting
import TestSupport
import Testing

/// A feature that combines limiters of all classes, like the throttles of the daemon.
private struct Feature {
  enum Event: Equatable {
    case message(Int)
    case clear(Int)
    case change(Int)
    case release(Int)
    case reaction(Int64)
  }

  var messages = KeepAll<Int>(interval: .ticks(16), capacity: 50)
  var changes = LatestWins<Int>(interval: .ticks(16))
  var reactions = Aggregate<String>(interval: .ticks(100))
  var counters = ConservationCounters()
  var log: [Event] = []

  var deadline: Instant? {
    [messages.deadline, changes.deadline, reactions.deadline].compactMap(\.self).min()
  }
  var pending: Int { messages.pending + changes.pending + reactions.pending }

  mutating func receive(_ event: Event, at now: Instant) {
    counters.receive()
    switch event {
    case .message(let id): apply(messages.push(id, at: now)) { $0.map(Event.message) }
    case .change(let value): apply(changes.push(value, at: now)) { [.change($0)] }
    case .reaction(let count):
      apply(reactions.push(count, for: "like", at: now)) { [.reaction($0[0].amount)] }
    case .clear:
      apply(messages.flush(at: now)) { $0.map(Event.message) }
      apply(Step(output: event, applied: 1)) { [$0] }
    case .release:
      apply(changes.supersede()) { [.change($0)] }
      apply(Step(output: event, applied: 1)) { [$0] }
    }
  }

  mutating func wake(at now: Instant) {
    apply(messages.wake(at: now)) { $0.map(Event.message) }
    apply(changes.wake(at: now)) { [.change($0)] }
    apply(reactions.wake(at: now)) { [.reaction($0[0].amount)] }
  }

  mutating func wakePunctually(until end: Instant = Instant(nanoseconds: .max)) {
    RateLimitingTests.wakePunctually(&self, until: end, deadline: \.deadline) { $0.wake(at: $1) }
  }

  private mutating func apply<Output>(_ step: Step<Output>, _ events: (Output) -> [Event]) {
    counters.record(step)
    if let output = step.output { log += events(output) }
  }
}

@Suite struct OrderTests {
  @Test(
    arguments: 1...40 as ClosedRange<UInt64>)
  func `an event that may not be dropped neither overtakes other events nor is overtaken`(
    seed: UInt64
  ) {
    var stream = RandomStream(seed: seed)
    var feature = Feature()
    var ordered: [Feature.Event] = []
    var reactions: Int64 = 0
    for id in 0..<3_000 {
      let now = stream.next()
      feature.wakePunctually(until: now)
      let event: Feature.Event =
        switch Int.random(in: 0..<20, using: &stream.generator) {
        case 0: .clear(id)
        case 1: .release(id)
        case 2...8: .change(id)
        case 9...11: .reaction(Int64(id))
        default: .message(id)
        }
      switch event {
      case .message, .clear: ordered.append(event)
      case .reaction(let count): reactions += count
      case .change, .release: break
      }
      feature.receive(event, at: now)
      switch event {
      case .clear, .release: #expect(feature.log.last == event, "at once")
      case .message, .change, .reaction: break
      }
      #expect(feature.counters.isConserved && feature.counters.pending == feature.pending)
    }
    feature.wakePunctually()
    #expect(feature.counters.pending == 0)

    let messagesAndClears = feature.log.filter {
      switch $0 {
      case .message, .clear: true
      case .change, .release, .reaction: false
      }
    }
    #expect(messagesAndClears == ordered, "a clear keeps its position among the messages")
    var newest = -1
    var sum: Int64 = 0
    for event in feature.log {
      switch event {
      case .change(let id), .release(let id):
        #expect(id > newest, "no change is delivered after a later release")
        newest = id
      case .reaction(let count): sum += count
      case .message, .clear: break
      }
    }
    #expect(sum == reactions)
  }

  @Test func `the end of a drag replaces its pending change`() {
    var feature = Feature()
    feature.receive(.change(1), at: .tick(0))
    feature.receive(.change(2), at: .tick(1))
    feature.receive(.release(3), at: .tick(2))
    #expect(feature.log == [.change(1), .release(3)])
    #expect(feature.counters.applied == 2 && feature.counters.coalesced == 1)
    #expect(feature.deadline == nil)
  }

  @Test func `a drag of 500 changes in 4 s causes at most one update per frame and one release`() {
    var feature = Feature()
    for change in 0..<500 {
      let now = Instant.tick(Int64(change) * 8)
      feature.wakePunctually(until: now)
      feature.receive(.change(change), at: now)
    }
    feature.receive(.release(500), at: .tick(4_000))
    #expect(feature.log.count <= 4_000 / 16 + 2)
    #expect(feature.log.last == .release(500))
    #expect(feature.log.filter { $0 == .release(500) }.count == 1)
  }
}
