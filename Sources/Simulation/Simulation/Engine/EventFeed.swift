package import LiveEvents

/// An event on its way to the screen.
package struct Delivery: Sendable {
  package var event: LiveEvent
  /// When it would have arrived without faults.
  package var intended: VirtualTime
}

/// All events of a scenario in order of arrival: those of its sources after faults were applied.
///
/// Cannot be copied, because its sources advance.
package struct EventFeed: ~Copyable {
  private let sources: [EventSource]
  private var shared = SharedState()
  private var faults: FaultStage
  /// The next occasion of each source.
  private var occasions = EventQueue<Int>()
  /// Events that arrive later than the occasion that they belong to.
  private var deliveries = EventQueue<Delivery>()

  /// - Parameter load: factor of all generated rates, in millionths.
  package init(_ scenario: Scenario, load: Int64 = 1_000_000) {
    sources = scenario.sources.enumerated().map { number, source in
      EventSource(source, number: number, seed: scenario.seed, load: load)
    }
    faults = FaultStage(
      scenario.faults, random: SeededGenerator(seed: scenario.seed, stream: 1))
    for number in sources.indices {
      if let next = sources[number].nextTime { schedule(number, at: next) }
    }
  }

  /// When the next event arrives at the earliest; nil after the last one.
  package var nextTime: VirtualTime? {
    guard let occasion = occasions.nextTime else { return deliveries.nextTime }
    return deliveries.nextTime.map { min($0, occasion) } ?? occasion
  }

  package var faultCounts: FaultCounts { faults.counts }

  /// Calls `take` for each event that arrives until then, in order. Of simultaneous events, those
  /// already under way come first.
  package mutating func receive(
    until time: VirtualTime, _ take: (Delivery, _ arrival: VirtualTime) -> Void
  ) {
    while let due = nextTime, !(time < due) {
      if deliveries.nextTime == due, let (_, delivery) = deliveries.pop() {
        take(delivery, due)
      } else if let (_, number) = occasions.pop() {
        gather(number, until: due, take)
      }
    }
  }

  /// Takes the events of one occasion: immediate ones now, delayed ones when they arrive.
  private mutating func gather(
    _ number: Int, until now: VirtualTime, _ take: (Delivery, VirtualTime) -> Void
  ) {
    let source = sources[number]
    // Taken out, so that the events can be put into the queue meanwhile.
    var shared = exchange(&self.shared, with: SharedState())
    source.take(&shared) { event, time in pass(event, time, until: now, take) }
    self.shared = shared
    if let next = source.nextTime { schedule(number, at: next) }
  }

  private mutating func pass(
    _ event: LiveEvent, _ time: VirtualTime, until now: VirtualTime,
    _ take: (Delivery, VirtualTime) -> Void
  ) {
    guard !faults.isEmpty else {
      let delivery = Delivery(event: event, intended: time)
      if now < time { deliveries.push(delivery, at: time) } else { take(delivery, now) }
      return
    }
    var passed: [(delivery: Delivery, arrival: VirtualTime)] = []
    faults.pass(event, at: time) { passed.append(($0, $1)) }
    for (delivery, arrival) in passed {
      if now < arrival { deliveries.push(delivery, at: arrival) } else { take(delivery, now) }
    }
  }

  private mutating func schedule(_ number: Int, at next: VirtualTime) {
    occasions.push(number, at: faults.occasion(next))
  }
}
