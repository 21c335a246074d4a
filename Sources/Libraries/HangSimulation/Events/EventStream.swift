/// The origin and times of events in a simulation.
public struct EventStream<Event: Sendable>: Sendable {
  /// Creates a source that starts at the beginning, with a factor for its rates in millionths.
  let source: @Sendable (SeededGenerator, _ load: Int64) -> AnyEventSource<Event>
  /// The latest of the individually given times.
  var last: VirtualTime?

  /// Returns a stream of independent events (a Poisson process) at a mean interval, until `end`.
  /// `make` creates each event, with random numbers derived from the seed of the run.
  public static func poisson(
    every mean: Duration, from start: Duration = .zero, until end: Duration? = nil,
    make: @escaping @Sendable (inout SeededGenerator) -> Event
  ) -> EventStream {
    staged(.poisson, mean, start, end, make)
  }

  /// Returns a stream of events at a constant interval, the first at `start`. No event arrives
  /// after `end`. `make` creates each event, with random numbers derived from the seed of the run.
  public static func every(
    _ interval: Duration, from start: Duration = .zero, until end: Duration? = nil,
    make: @escaping @Sendable (inout SeededGenerator) -> Event
  ) -> EventStream {
    staged(.even, interval, start, end, make)
  }

  /// Returns a stream of the same event at these times, none after the end of the simulation.
  public static func at(_ times: Duration..., event: Event) -> EventStream {
    var stream = recorded(times.map { ($0, event) })
    stream.last = times.max().map { VirtualTime($0) }
    return stream
  }

  /// Returns a stream of events at their own times, such as the events of a recording. Simultaneous
  /// events keep their order.
  public static func recorded(_ events: [(time: Duration, event: Event)]) -> EventStream {
    let sorted = events.enumerated().sorted { left, right in
      (left.element.time, left.offset) < (right.element.time, right.offset)
    }.map { (time: VirtualTime($0.element.time), event: $0.element.event) }
    return EventStream { _, _ in AnyEventSource(RecordedEvents(events: sorted)) }
  }

  /// Returns a stream of a custom generator. `make` creates the generator, with random numbers
  /// derived from the seed of the run.
  public static func generated(
    _ make: @escaping @Sendable (SeededGenerator) -> any EventGenerator<Event>
  ) -> EventStream {
    EventStream { random, _ in AnyEventSource(make(random)) }
  }

  private static func staged(
    _ pattern: Arrivals.Pattern, _ interval: Duration, _ start: Duration, _ end: Duration?,
    _ make: @escaping @Sendable (inout SeededGenerator) -> Event
  ) -> EventStream {
    precondition(.zero < interval, "the interval must be positive")
    let stage = Arrivals.Stage(
      rate: Rate(interval: VirtualTime(interval)), length: end.map { VirtualTime($0 - start) })
    return EventStream { random, load in
      var random = random
      let times = SeededGenerator(seed: random.next())
      return AnyEventSource(
        GeneratedEvents(
          arrivals: Arrivals(
            .staged(pattern, from: VirtualTime(start), [stage]), load: load, random: times),
          random: random, make: make))
    }
  }

  private struct GeneratedEvents: EventGenerator {
    var arrivals: Arrivals
    var random: SeededGenerator
    let make: @Sendable (inout SeededGenerator) -> Event

    var nextTime: VirtualTime? { arrivals.nextTime }
    mutating func next() -> Event {
      arrivals.advance()
      return make(&random)
    }
  }

  private struct RecordedEvents: EventGenerator {
    let events: [(time: VirtualTime, event: Event)]
    var delivered = 0

    var nextTime: VirtualTime? { delivered < events.count ? events[delivered].time : nil }
    mutating func next() -> Event {
      defer { delivered += 1 }
      return events[delivered].event
    }
  }
}

/// Adapts a generator to a source, with one event for each occasion.
final class AnyEventSource<Event>: EventSource {
  private var generator: any EventGenerator<Event>

  init(_ generator: any EventGenerator<Event>) { self.generator = generator }

  var nextTime: VirtualTime? { generator.nextTime }

  func takeOne() -> Delivery<Event>? {
    guard let time = generator.nextTime else { return nil }
    return Delivery(event: generator.next(), intended: time)
  }

  func take(_ deliver: (Event, VirtualTime) -> Void) {
    if let delivery = takeOne() { deliver(delivery.event, delivery.intended) }
  }
}
