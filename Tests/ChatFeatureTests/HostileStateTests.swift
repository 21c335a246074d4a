import ChatFeature
import Foundation
import LiveEvents
import Testing

/// Saved chats that were manipulated.
@Suite(.timeLimit(.minutes(1))) struct HostileStateTests {
  private func text(of value: some Encodable) throws -> String {
    try String(decoding: JSONEncoder().encode(value), as: UTF8.self)
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  @Test func `a restored chat with a lower history limit keeps only its newest messages`()
    throws
  {
    var state = ChatFeature.State(historyLimit: 50)
    state.apply(
      .reading(.filterChanged(ChatFilter(words: "says"))),
      .messages((1...40).map { message($0, answering: $0 > 1 ? 1 : nil) }),
      .reading(.threadOpened(messageID: "m1")))
    state.beginAnalysis()
    // Each history has its own limit in the file.
    let forged = try text(of: state).replacing("\"limit\":50", with: "\"limit\":1099511627776")
    state = try decode(ChatFeature.State.self, forged)
    #expect(!state.hasHistoryLimit(5))
    state.limitHistory(to: 5)
    #expect(state.hasHistoryLimit(5))
    #expect(state.shown == ["m36", "m37", "m38", "m39", "m40"])
    #expect(state.passing == state.shown && state.inThread == state.shown)
    #expect(state.folded?.count == 5)
    state.apply(.messages((41...60).map { message($0, answering: 40) }))
    #expect(state.shown == ["m56", "m57", "m58", "m59", "m60"])
    #expect(state.passing == state.shown)
    state.limitHistory(to: 50)
    #expect(state.shown.count == 5)
  }

  @Test func `a saved message count that is too high is limited, and its author is still counted`()
    throws
  {
    var people = ChatterSet()
    people.count(authorsOf: [message(1, by: "ann")])
    var object = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(people)) as? [String: Any])
    let short = try #require(object["short"] as? String)
    var entry = try #require(Data(base64Encoded: short))
    #expect(entry.count == 24)
    entry.replaceSubrange(16..<24, with: [255, 255, 255, 255, 255, 255, 255, 127])
    object["short"] = entry.base64EncodedString()
    var restored = try JSONDecoder().decode(
      ChatterSet.self, from: JSONSerialization.data(withJSONObject: object))
    for _ in 0..<3 { restored.count(authorsOf: [message(2, by: "ann")]) }
    #expect(restored.count == 1)
    #expect(restored.top.first?.messages == EventLimits.total.upperBound + 3)
  }

  @Test func `saved people beyond the capacity of their set are omitted`() throws {
    var people = ChatterSet()
    people.count(authorsOf: [message(1, by: "ann")])
    var object = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(people)) as? [String: Any])
    var entries = Data()
    for number in 1...UInt64(ChatterSet.capacity) + 1 {
      withUnsafeBytes(of: number.littleEndian) { entries.append(contentsOf: $0) }
      entries.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 0, 0])
    }
    for (count, isFull) in [(ChatterSet.capacity, false), (ChatterSet.capacity + 1, true)] {
      object["short"] = entries.prefix(24 * count).base64EncodedString()
      let data = try JSONSerialization.data(withJSONObject: object)
      let restored = try JSONDecoder().decode(ChatterSet.self, from: data)
      #expect(restored.count == ChatterSet.capacity)
      #expect(restored.isFull == isFull)
    }
  }

  @Test(arguments: [1 << 40, 0, -1])
  func `a saved chat with an invalid capacity is rejected`(capacity: Int) throws {
    var state = ChatFeature.State()
    state.apply(.timedOut(ChatTimeout(user: Person(id: "ann", name: "Ann"), seconds: 1), at: 1))
    let saved = try text(of: state)
    let forged = saved.replacing("\"capacity\":512", with: "\"capacity\":\(capacity)")
    #expect(forged != saved)
    _ = try decode(ChatFeature.State.self, saved)
    #expect(throws: DecodingError.self) { try decode(ChatFeature.State.self, forged) }
  }

  @Test func `a saved notice board on which every notice is pinned does not grow`() throws {
    var state = ChatFeature.State()
    func show(_ count: Int) {
      for time in 1...count { state.apply(.notice(notice(.raid), at: Timestamp(time))) }
    }
    show(NoticeBoard.limit)
    let saved = try text(of: state)
    state = try decode(
      ChatFeature.State.self, saved.replacing("\"isPinned\":false", with: "\"isPinned\":true"))
    #expect(state.notices.entries.filter { !$0.isPinned }.isEmpty)
    show(10)
    #expect(state.notices.entries.count == NoticeBoard.limit)
    #expect(state.notices.entries.last?.number == NoticeBoard.limit + 10)
  }
}
