package import LiveEvents

/// An event on its way to the screen.
package struct Delivery: Sendable {
  package var event: LiveEvent
  /// When it should have arrived, had nothing gone wrong.
  package var intended: VirtualTime
}

/// All events of a scenario in the order in which they arrive: its sources, and what goes wrong on the
/// way from them.
package struct EventFeed {
  private enum Item {
    /// The next occasion of a source.
    case occasion(Int)
    case delivery(Delivery)
  }

  private var sources: [EventSource]
  private var company = Company()
  private var faults: FaultStage
  private var queue = EventQueue<Item>()
  /// The events of the present occasion; kept for its memory.
  private var occasion: [TimedEvent] = []

  /// - Parameter load: factor of all generated rates, in millionths.
  package init(_ scenario: Scenario, load: Int64 = 1_000_000) {
    sources = scenario.sources.enumerated().map { number, source in
      EventSource(source, number: number, seed: scenario.seed, load: load)
    }
    faults = FaultStage(
      scenario.faults, random: SeededGenerator(seed: scenario.seed, stream: 1))
    for number in sources.indices { schedule(number) }
  }

  /// When the next event arrives at the earliest; nil after the last one.
  package var nextTime: VirtualTime? { queue.nextTime }

  package var faultCounts: FaultCounts { faults.counts }

  /// Calls `take` for each event that arrives until then, in order.
  package mutating func receive(
    until time: VirtualTime, _ take: (Delivery, _ arrival: VirtualTime) -> Void
  ) {
    while let due = queue.nextTime, !(time < due), let (_, item) = queue.pop() {
      switch item {
      case .delivery(let delivery): take(delivery, due)
      case .occasion(let number):
        gather(number, until: due, take)
        schedule(number)
      }
    }
  }

  /// Takes the events of one occasion: those that arrive with it at once, the others when they do.
  private mutating func gather(
    _ number: Int, until now: VirtualTime, _ take: (Delivery, VirtualTime) -> Void
  ) {
    var events = exchange(&occasion, with: [])
    sources[number].take(&company) { events.append(TimedEvent(time: $1, event: $0)) }
    for event in events {
      if faults.isEmpty {
        pass(Delivery(event: event.event, intended: event.time), event.time, until: now, take)
      } else {
        var passed: [(Delivery, VirtualTime)] = []
        faults.pass(event.event, at: event.time) { passed.append(($0, $1)) }
        for (delivery, arrival) in passed { pass(delivery, arrival, until: now, take) }
      }
    }
    events.removeAll(keepingCapacity: true)
    occasion = events
  }

  private mutating func pass(
    _ delivery: Delivery, _ time: VirtualTime, until now: VirtualTime,
    _ take: (Delivery, VirtualTime) -> Void
  ) {
    if now < time { queue.push(.delivery(delivery), at: time) } else { take(delivery, now) }
  }

  private mutating func schedule(_ number: Int) {
    guard let next = sources[number].nextTime else { return }
    queue.push(.occasion(number), at: faults.occasion(next))
  }
}
