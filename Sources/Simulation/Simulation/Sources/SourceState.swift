import HangSimulation
import LiveEvents

/// State shared by the sources of one run: the people waiting and the messages so far.
struct SourceState {
  /// The number of messages so far, which is the number of the last one.
  private(set) var messages = 0
  /// People leave in the order in which they joined, and their names follow from their numbers. So nobody is kept,
  /// however many they are.
  private var joined = 0
  private var left = 0

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
    defer { joined += 1 }
    return Self.person(joined)
  }

  /// Removes the person who has waited longest; returns a stranger if no one is waiting.
  mutating func leave() -> Person {
    guard left < joined else { return Person(id: "nobody", name: "nobody") }
    defer { left += 1 }
    return Self.person(left)
  }

  private static func person(_ number: Int) -> Person {
    let name = InventedPeople.text(number)
    return Person(id: name, name: name)
  }
}
