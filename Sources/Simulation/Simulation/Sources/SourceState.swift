import HangSimulation
import LiveEvents

/// State shared by the sources of one run: the people waiting and the messages so far.
struct SourceState {
  /// The number of messages so far, which is the number of the last one.
  private(set) var messages = 0
  private var waiting: [Person] = []
  private var firstWaiting = 0
  private var joined = 0

  /// Writes the identifier of the next message.
  mutating func newMessage(_ writer: inout TextWriter) {
    messages += 1
    Self.write(messages, to: &writer)
  }

  /// One of the last 50 messages, or the first future message if there are none yet.
  func recentMessage(_ random: inout SeededGenerator) -> Text {
    let back = random.integer(in: 0...max(0, min(49, messages - 1)))
    return Text("\(Self.prefix)\(max(1, messages - back))")
  }

  private static let prefix: StaticString = "message-"

  private static func write(_ number: Int, to writer: inout TextWriter) {
    writer.append(prefix)
    writer.append(number)
  }

  /// Adds a new person to those waiting.
  mutating func join() -> Person {
    let name = InventedPeople.text(joined)
    joined += 1
    let person = Person(id: name, name: name)
    waiting.append(person)
    return person
  }

  /// Removes the person who has waited longest; returns a stranger if no one is waiting.
  mutating func leave() -> Person {
    guard firstWaiting < waiting.count else { return Person(id: "nobody", name: "nobody") }
    defer { firstWaiting += 1 }
    return waiting[firstWaiting]
  }
}
