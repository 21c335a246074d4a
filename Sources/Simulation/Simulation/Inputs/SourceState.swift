import HangSimulation
import LiveEvents

/// The state that the sources of one run share: the people who are waiting, and the number of
/// messages so far.
struct SourceState {
  /// The number of messages so far, which is also the number of the last message.
  private(set) var messages = 0
  /// The number of people who joined. People leave in this order, and their names are derived from
  /// their numbers, so two numbers suffice for any number of people.
  private var joined = 0
  private var left = 0

  mutating func newMessage(_ writer: inout TextWriter) {
    messages += 1
    Self.write(messages, to: &writer)
  }

  /// Returns the identifier of one of the last 50 messages. If there is no message yet, returns the
  /// identifier that the first message will have.
  func recentMessage(_ random: inout SeededGenerator) -> Text {
    let back = random.integer(in: 0...max(0, min(49, messages - 1)))
    return Text("\(Self.prefix)\(max(1, messages - back))")
  }

  private static let prefix: StaticString = "message-"

  private static func write(_ number: Int, to writer: inout TextWriter) {
    writer.append(prefix)
    writer.append(number)
  }

  mutating func join() -> Person {
    defer { joined += 1 }
    return Self.person(joined)
  }

  /// Removes the person who has waited longest. Returns a person who never joined if nobody is
  /// waiting.
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
