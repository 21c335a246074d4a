/// A source of events in virtual time: a small value that knows when its next event comes.
///
/// Times never decrease. What a generator yields depends only on its parameters.
public protocol EventGenerator<Event>: Sendable {
  /// What it generates.
  associatedtype Event

  /// When the next event comes; nil after the last one.
  var nextTime: VirtualTime? { get }

  /// Returns the event due at ``nextTime`` and advances. Must not be called after the last event.
  mutating func next() -> Event
}

/// Merges several generators in order of time. Of simultaneous events, the earlier generator's
/// comes first.
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
