/// A source of events in virtual time: a small value that has the time of its next event. Times
/// never decrease. The events of a generator depend only on its parameters.
public protocol EventGenerator<Event>: Sendable {
  /// The type of its events.
  associatedtype Event

  /// The time of the next event; `nil` after the last one.
  var nextTime: VirtualTime? { get }

  /// Returns the event due at ``nextTime`` and advances. Must not be called after the last event.
  mutating func next() -> Event
}

/// Merges the events of several generators in order of time. Simultaneous events have the order of
/// their generators.
package struct MergedGenerators<Event>: EventGenerator {
  private var generators: [any EventGenerator<Event>]
  private var times: [VirtualTime?]

  package init(_ generators: [any EventGenerator<Event>]) {
    self.generators = generators
    times = generators.map(\.nextTime)
  }

  package var nextTime: VirtualTime? { earliest.flatMap { times[$0] } }

  /// - Complexity: O(number of generators).
  package mutating func next() -> Event {
    guard let index = earliest else { preconditionFailure("no generator has an event left") }
    let payload = generators[index].next()
    times[index] = generators[index].nextTime
    return payload
  }

  private var earliest: Int? {
    var result: (index: Int, time: VirtualTime)?
    for (index, time) in times.enumerated() {
      guard let time else { continue }
      if let best = result, best.time <= time { continue }
      result = (index, time)
    }
    return result?.index
  }
}
