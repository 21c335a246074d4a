import HangSimulation
import LiveEvents

/// Creates the events of a generated source, one occasion after another.
struct PayloadMaker: Sendable {
  /// The state that a source keeps between occasions.
  struct State: Sendable {
    let source: Int
    var random: SeededGenerator
    /// The number of occasions so far, including the current one.
    var occasions = 0
    /// The current value of a random walk: viewers, a level, or bytes.
    var level: Int
    /// The names to choose from, such as names of controls.
    let names: [Text]
    /// A value for each name, such as the position of a slider, in thousandths.
    var values: [Int]
  }

  typealias Emit = (_ offset: VirtualTime, _ index: Int, LiveEvent.Payload) -> Void

  private let pattern: PayloadPattern
  private var state: State

  init(_ pattern: PayloadPattern, source: Int, random: SeededGenerator) {
    self.pattern = pattern
    state = State(
      source: source, random: random, level: pattern.level, names: pattern.names,
      values: pattern.names.map { _ in 500 })
  }

  /// Returns the only event of the next occasion. If the pattern creates several related events per
  /// occasion, returns `nil` and changes nothing.
  mutating func makeOne(_ shared: inout SourceState) -> LiveEvent.Payload? {
    guard case .event(let payload) = pattern.occasion else { return nil }
    state.occasions += 1
    return payload(&state, &shared)
  }

  /// Calls `emit` for each event of one occasion, with the event's delay after the occasion and the
  /// event's index in the batch.
  mutating func make(size: Int, _ shared: inout SourceState, _ emit: Emit) {
    state.occasions += 1
    switch pattern.occasion {
    case .event(let payload):
      for index in 0..<size { emit(.zero, index, payload(&state, &shared)) }
    case .batch(let make): make(&state, size, emit)
    }
  }
}

/// The events that a source generates, as a scenario defines them.
struct PayloadPattern: Sendable {
  enum Occasion: Sendable {
    /// Creates one event. Events of the same occasion are unrelated.
    case event(@Sendable (inout PayloadMaker.State, inout SourceState) -> LiveEvent.Payload)
    /// Creates all events of an occasion. These events are related.
    case batch(@Sendable (inout PayloadMaker.State, _ size: Int, PayloadMaker.Emit) -> Void)
  }

  let occasion: Occasion
  let names: [Text]
  /// The start of the random walk.
  let level: Int
  /// Whether the scenario sets the number of events per occasion.
  let isSized: Bool

  init(names: [String] = [], level: Int = 0, isSized: Bool = true, _ occasion: Occasion) {
    self.occasion = occasion
    self.names = names.map { Text($0) }
    self.level = level
    self.isSized = isSized
  }
}

extension PayloadMaker.State {
  mutating func person(of people: Int = 60) -> Person {
    let name = InventedPeople.text(random.integer(in: 0...(people - 1)))
    return Person(id: name, name: name)
  }
}
