import LiveEvents

/// A source of a scenario while it runs.
struct EventSource {
  private enum Content {
    case recorded([TimedEvent], next: Int)
    case generated(Arrivals, PayloadMaker, SourceDescription.Batch)
  }

  private var content: Content
  private var random: SeededGenerator

  init(_ description: SourceDescription, number: Int, seed: UInt64, load: Int64) {
    // Three streams for each source, so that a change of one leaves the others as they are.
    func stream(_ part: UInt64) -> SeededGenerator {
      SeededGenerator(seed: seed, stream: UInt64(number + 1) * 8 + part)
    }
    random = stream(0)
    switch description {
    case .recorded(let recorded): content = .recorded(recorded.events, next: 0)
    case .generated(let kind, let plan, let batch):
      content = .generated(
        Arrivals(plan, load: load, random: stream(1)),
        PayloadMaker(kind, number: number, random: stream(2)), batch)
    }
  }

  /// When the next occasion comes; nil after the last one. Never falls.
  var nextTime: VirtualTime? {
    switch content {
    case .recorded(let events, let next): next < events.count ? events[next].time : nil
    case .generated(let arrivals, _, _): arrivals.nextTime
    }
  }

  /// Gives the events of the next occasion, none of which arrives before it, and moves on.
  mutating func take(_ company: inout Company, _ deliver: (LiveEvent, VirtualTime) -> Void) {
    switch content {
    case .recorded(let events, let next):
      guard next < events.count else { return }
      content = .recorded(events, next: next + 1)
      deliver(events[next].event, events[next].time)
    case .generated(var arrivals, var maker, let batch):
      guard let time = arrivals.nextTime else { return }
      // Put aside, so that what is changed below is not a copy.
      content = .recorded([], next: 0)
      arrivals.advance()
      maker.make(at: time, size: batch.size, &company) { offset, index, payload in
        let happened = time + offset
        let spread =
          index > 0 && batch.within > .zero
          ? random.integer(in: 0...Int(batch.within.nanoseconds)) : 0
        var delay = VirtualTime(nanoseconds: Int64(spread))
        if batch.lateShare > 0, random.integer(in: 0...999) < Int(batch.lateShare) {
          delay.nanoseconds += Int64(random.integer(in: 1...Int(batch.lateBy.nanoseconds)))
        }
        let timestamp = SimulationEpoch.timestamp + happened.milliseconds
        deliver(LiveEvent(timestamp: timestamp, payload: payload), happened + delay)
      }
      content = .generated(arrivals, maker, batch)
    }
  }
}
