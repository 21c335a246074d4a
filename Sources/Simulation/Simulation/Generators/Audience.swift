package import HangSimulation
package import LiveEvents

/// Reactions of the audience, which are independent of each other except for occasional bursts.
package struct Reactions: EventGenerator {
  private let meanInterval: VirtualTime
  private let kinds: [Text] = ["heart", "laugh", "fire", "clap"]
  private var random: SeededGenerator
  private var time: VirtualTime
  /// The number of reactions left in the current burst.
  private var burst = 0

  package init(meanInterval: VirtualTime, from start: VirtualTime, random: SeededGenerator) {
    self.meanInterval = meanInterval
    self.random = random
    time = start + self.random.interval(mean: meanInterval)
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    if burst > 0 {
      burst -= 1
    } else if random.isOne(in: 120) {
      burst = random.integer(in: 40...160)
    }
    let mean = burst > 0 ? meanInterval.nanoseconds / 20 : meanInterval.nanoseconds
    time += random.interval(mean: VirtualTime(nanoseconds: mean))
    return .header(.reaction(kind: random.pick(kinds), count: random.integer(in: 1...5)))
  }
}

/// Occasional chat messages of a small audience.
package struct ChatMessages: EventGenerator {
  private let meanInterval: VirtualTime
  private let prefix: String
  private var random: SeededGenerator
  private var time: VirtualTime
  private var number = 0

  /// - Parameter prefix: The prefix of the messages' identifiers.
  package init(
    meanInterval: VirtualTime, prefix: String, from start: VirtualTime, random: SeededGenerator
  ) {
    self.meanInterval = meanInterval
    self.prefix = prefix
    self.random = random
    time = start + self.random.interval(mean: meanInterval)
  }

  package var nextTime: VirtualTime? { time }

  package mutating func next() -> LiveEvent.Payload {
    number += 1
    let person = InventedPeople.name(random.integer(in: 0...(InventedPeople.count - 1)))
    let text = "\(random.pick(Self.openings)) \(random.pick(Self.subjects))"
    time += random.interval(mean: meanInterval)
    return .chat(
      .message(
        ChatMessage(id: "\(prefix)\(number)", userID: person, userName: person, text: text)))
  }

  private static let openings = ["love", "what about", "again", "please show", "wow,", "nice:"]
  private static let subjects = ["the intro", "that jump", "the new song", "the map", "the cat"]
}

/// The visitors of the waiting room before the stream goes live: people join, some leave, and the
/// others are admitted.
package struct WaitingRoomVisitors: EventGenerator {
  private let meanInterval: VirtualTime
  private let opening: VirtualTime
  private var random: SeededGenerator
  private var time: VirtualTime
  private var joined = 0
  private var waiting: [Person] = []

  /// - Parameter opening: The time at which the waiting people are admitted.
  package init(
    meanInterval: VirtualTime, from start: VirtualTime, opening: VirtualTime,
    random: SeededGenerator
  ) {
    self.meanInterval = meanInterval
    self.opening = opening
    self.random = random
    time = start
  }

  package var nextTime: VirtualTime? {
    if time < opening { return time }
    // All people are admitted at the same moment, to simulate a crowd at the door.
    return waiting.isEmpty ? nil : opening
  }

  package mutating func next() -> LiveEvent.Payload {
    guard time < opening else { return .waitingRoom(.admitted(waiting.removeFirst())) }
    time += random.interval(mean: meanInterval)
    if waiting.count > 3, random.isOne(in: 7) {
      return .waitingRoom(.leave(waiting.remove(at: random.integer(in: 0...(waiting.count - 1)))))
    }
    let name = InventedPeople.text(joined)
    let person = Person(id: name, name: name)
    joined += 1
    waiting.append(person)
    return .waitingRoom(.join(person))
  }
}

/// Invented names of people.
enum InventedPeople {
  private static let first: [StaticString] = [
    "ada", "bo", "cleo", "dana", "eli", "finn", "gus", "hana", "ivo", "jo",
  ]
  private static let second: [StaticString] = ["fox", "reed", "lake", "moss", "finch", "dune"]

  static let count = first.count * second.count

  /// Returns the name of the person with the given number. The same number always gives the same
  /// name. From the number ``count``, names end in digits.
  static func name(_ number: Int) -> String { String(text(number)) }

  static func text(_ number: Int) -> Text {
    var slice = ByteSlab.Slice.empty
    let slab = ByteSlab(capacity: TextWriter.capacity) { target in
      var writer = TextWriter(target)
      slice = writer.slice { writeName(number, to: &$0) }
      return writer.count
    }
    return Text(slab: slab, slice: slice)
  }

  static func writeName(_ number: Int, to writer: inout TextWriter) {
    writer.append(first[number % first.count])
    writer.append("_")
    writer.append(second[number / first.count % second.count])
    if number >= count { writer.append(number / count) }
  }
}
