import ChatFeature
import Foundation
import LiveEvents
import TestSupport
import Testing

@Suite struct ChatterSetTests {
  private func id(_ number: Int, isLong: Bool) -> Text {
    Text(isLong ? "UCxxxxxxxxxxxxxxxx\(number)" : "u\(number)")
  }

  @Test(arguments: [false, true])
  func `people beyond the capacity of a set are omitted, so the set's count is a lower bound`(
    isLong: Bool
  ) {
    var people = ChatterSet()
    for number in 0..<ChatterSet.capacity { people.count(id(number, isLong: isLong), name: "n") }
    #expect(people.count == ChatterSet.capacity)
    #expect(!people.isFull)
    people.count(id(5, isLong: isLong), name: "n")
    #expect(!people.isFull, "a known person needs nothing")
    for number in 0..<1_000 { people.count(id(-1 - number, isLong: isLong), name: "n") }
    #expect(people.isFull)
    #expect(people.count == ChatterSet.capacity)
    #expect(people.top.first?.userID == id(5, isLong: isLong))
  }

  @Test func `people with different identifiers of any length are distinguished`() {
    var people = ChatterSet()
    for length in 0..<300 {
      for last in ["a", "b"] {
        people.count(Text(String(repeating: "x", count: length) + last), name: "n")
      }
    }
    #expect(people.count == 600)
  }

  @Test func `people saved under longer identifiers by an earlier version are not counted again`()
    throws
  {
    var people = ChatterSet()
    people.count("short", name: "n")
    let json = try JSONEncoder().encode(people)
    var object = try #require(
      try JSONSerialization.jsonObject(with: json) as? [String: Any])
    object["long"] = ["a person with a long name", 7] as [Any]
    var restored = try JSONDecoder().decode(
      ChatterSet.self, from: JSONSerialization.data(withJSONObject: object))
    #expect(restored.count == 2)
    restored.count("a person with a long name", name: "A")
    #expect(restored.count == 2)
    #expect(restored.top.first?.messages == 8)
  }

  @Test(arguments: [0, 1, 64, 65, 200])
  func `the authors of a batch of messages are counted, however large the batch is`(length: Int) {
    var people = ChatterSet()
    let batch = (0..<length).map { message(by: id($0 % 150, isLong: $0 % 2 == 0), name: "n") }
    for _ in 1...2 { people.count(authorsOf: batch) }
    #expect(people.count == min(length, 150))
    // In the longest batch, 50 people have written twice.
    let most = Array(repeating: length > 150 ? 4 : 2, count: min(length, TopChatter.limit))
    #expect(people.top.map(\.messages) == most)
  }

  @Test(arguments: 1...20)
  func `adding a batch of people gives the same count as adding them singly`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var (atOnce, oneByOne) = (ChatterSet(), ChatterSet())
    for people in [30, 60, 120, 250, 500] {
      let batch = (0..<Int.random(in: 1...200, using: &random)).map { _ in
        message(
          by: id(Int.random(in: 0..<people, using: &random), isLong: Bool.random(using: &random)),
          name: "n")
      }
      atOnce.count(authorsOf: batch)
      for message in batch { oneByOne.count(authorsOf: [message]) }
      #expect(atOnce == oneByOne)
    }
  }
}

private func message(by userID: Text, name: String) -> TimedMessage {
  TimedMessage(
    timestamp: 0,
    message: ChatMessage(id: "", userID: String(userID), userName: name, text: ""))
}

extension ChatterSet {
  fileprivate mutating func count(_ userID: Text, name: String) {
    count(authorsOf: [message(by: userID, name: name)])
  }
}
