package import HangSimulation
package import LiveEvents

/// A running source of a scenario.
package final class ScenarioSource: EventSource {
  /// The events of a recording. ``delivered`` is the number of events already delivered.
  private var recorded: [TimedEvent] = []
  @exclusivity(unchecked) private var delivered = 0
  // The following values belong to generated sources.
  @exclusivity(unchecked) private var arrivals = Arrivals(
    .listed([]), load: 0, random: SeededGenerator(seed: 0))
  @exclusivity(unchecked) private var maker: PayloadMaker?
  private var batch = SourceDescription.Batch()
  @exclusivity(unchecked) private var random: SeededGenerator

  private let number: Int
  private let shared: SharedState

  init(
    _ description: SourceDescription, number: Int, seed: UInt64, load: Int64, shared: SharedState
  ) {
    self.number = number
    self.shared = shared
    // Each source has its own three random streams, so that a change to one source does not affect
    // other sources.
    func stream(_ part: UInt64) -> SeededGenerator {
      SeededGenerator(seed: seed, stream: UInt64(number + 1) * 8 + part)
    }
    random = stream(0)
    switch description {
    case .recorded(let recording):
      recorded = recording.events
    case .generated(let pattern, let plan, let batch):
      arrivals = Arrivals(plan, load: load, random: stream(1))
      maker = PayloadMaker(pattern, source: number, random: stream(2))
      self.batch = batch
    }
  }

  /// The time of the next occasion at which the source creates events; it never decreases. `nil`
  /// after the last occasion, and when too many events are in flight.
  package var nextTime: VirtualTime? {
    if shared.isFull { return nil }
    return delivered < recorded.count ? recorded[delivered].time : arrivals.nextTime
  }

  package func takeOne() -> Delivery<LiveEvent>? {
    if delivered < recorded.count {
      delivered += 1
      shared.countCreated(1, by: number)
      return Delivery(event: recorded[delivered - 1].event, intended: recorded[delivered - 1].time)
    }
    guard batch.size == 1, let time = arrivals.nextTime, let payload = maker?.makeOne(&shared.state)
    else { return nil }
    arrivals.advance()
    shared.countCreated(1, by: number)
    var arrival = time
    if batch.lateShare > 0, random.integer(in: 0...999) < Int(batch.lateShare) {
      arrival.nanoseconds += Int64(random.integer(in: 1...Int(batch.lateBy.nanoseconds)))
    }
    let timestamp = SimulationEpoch.timestamp + time.milliseconds
    return Delivery(
      event: LiveEvent(timestamp: timestamp, payload: payload), intended: arrival)
  }

  /// Delivers the events of the next occasion and advances. No event arrives before the occasion.
  package func take(_ deliver: (LiveEvent, VirtualTime) -> Void) {
    if let delivery = takeOne() { return deliver(delivery.event, delivery.intended) }
    guard let time = arrivals.nextTime else { return }
    arrivals.advance()
    let batch = batch
    var random = random
    var made = 0
    maker?.make(size: batch.size, &shared.state) { offset, index, payload in
      let happened = time + offset
      var arrival = happened
      if index > 0, batch.within > .zero {
        arrival.nanoseconds += Int64(random.integer(in: 0...Int(batch.within.nanoseconds)))
      }
      if batch.lateShare > 0, random.integer(in: 0...999) < Int(batch.lateShare) {
        arrival.nanoseconds += Int64(random.integer(in: 1...Int(batch.lateBy.nanoseconds)))
      }
      let timestamp = SimulationEpoch.timestamp + happened.milliseconds
      made += 1
      deliver(LiveEvent(timestamp: timestamp, payload: payload), arrival)
    }
    self.random = random
    shared.countCreated(made, by: number)
  }
}

/// The state that the sources of one run share, including the number of their events in flight.
///
/// Because of faults, late events, and occasions with many events, any number of events could be in
/// flight. Once there are too many, the sources create no more events, so that no loop creates
/// events endlessly.
final class SharedState {
  @exclusivity(unchecked) var state = SourceState()
  /// Whether the number of events in flight has ever exceeded the limit.
  @exclusivity(unchecked) private(set) var isFull = false
  @exclusivity(unchecked) private(set) var total = 0
  /// The number of events that each source has created.
  @exclusivity(unchecked) private var made: [Int]
  /// The number of events that were created or duplicated, and have neither arrived nor been
  /// dropped.
  @exclusivity(unchecked) private var inFlight = 0
  /// The number of events that faults have added so far: duplicated events minus dropped events.
  @exclusivity(unchecked) private var added = 0
  private let limit: Int

  init(sources: Int, limit: Int = .max) {
    made = Array(repeating: 0, count: sources)
    self.limit = limit
  }

  var busiest: Int { made.indices.max { made[$0] < made[$1] } ?? 0 }

  func countCreated(_ count: Int, by source: Int) {
    made[source] += count
    total += count
    add(count)
  }

  func countArrival() { inFlight -= 1 }

  /// - Parameter faults: The cumulative effects of the faults.
  func add(_ faults: FaultCounts) {
    let total = faults.duplicated - faults.dropped
    add(total - added)
    added = total
  }

  private func add(_ count: Int) {
    inFlight += count
    if inFlight > limit { isFull = true }
  }
}

extension EventFeed where Source == ScenarioSource {
  /// Creates a feed of all events of a scenario. `load` is a factor for all generated rates, in
  /// millionths.
  package init(_ scenario: Scenario, load: Int64 = 1_000_000) {
    self.init(scenario, load: load, shared: SharedState(sources: scenario.sources.count))
  }

  /// - Parameter shared: Counts every created event.
  init(_ scenario: Scenario, load: Int64, shared: SharedState) {
    self.init(
      scenario.sources.enumerated().map { number, source in
        ScenarioSource(source, number: number, seed: scenario.seed, load: load, shared: shared)
      }, faults: scenario.faults, seed: scenario.seed)
  }
}
