import ChatFeature
import Foundation
import LiveEvents
import Testing

@Suite struct ChatterSetTests {
  private func id(_ number: Int, isLong: Bool) -> Text {
    Text(isLong ? "UCxxxxxxxxxxxxxxxx\(number)" : "u\(number)")
  }

  @Test(arguments: [false, true])
  func `people beyond the capacity are left out, and the count says that it is a lower bound`(
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

  @Test func `identifiers of any length are told apart`() {
    var people = ChatterSet()
    for length in 0..<300 {
      for last in ["a", "b"] {
        people.count(Text(String(repeating: "x", count: length) + last), name: "n")
      }
    }
    #expect(people.count == 600)
  }

  @Test func `longer identifiers saved by an earlier version are known people`() throws {
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
}
