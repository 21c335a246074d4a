import ChatFeature
import Foundation
import LiveEvents
import TestSupport
import Testing

@Suite struct MessageHistoryTests {
  @Test func `the history keeps the newest messages and removes the oldest`() {
    var state = ChatFeature.State(historyLimit: 3)
    state.apply(.messages((1...10).map { message($0, at: 0) }), .messages([message(11, at: 0)]))
    #expect(state.shown == ["m9", "m10", "m11"])
    #expect(state.messages.map(\.number) == [9, 10, 11])
    #expect(state.total == 11)
  }

  @Test func `a stored message copies its text and does not keep the received line in memory`() {
    let name = "ann"
    let text = #"caf\u00e9 \"x\""#
    let nameSlice = ByteSlab.Slice(offset: 0, count: name.utf8.count)
    let received = ChatMessage(
      slab: ByteSlab(Array((name + text + " and the rest of the line").utf8)),
      slices: .init(
        id: nameSlice, userID: nameSlice, userName: nameSlice,
        text: .init(offset: name.utf8.count, count: text.utf8.count, escape: .json)),
      color: NameColor(rgb: 7))
    var state = ChatFeature.State()
    state.apply(.messages([TimedMessage(timestamp: 1, message: received)]))
    #expect(state.messages.first?.message == received)
    #expect(state.messages.first.map { String($0.message.text) } == "café \"x\"")
    #expect(state.messages.first?.message.text.escape == ByteSlab.Escape.none)
  }

  @Test func `long texts displace the oldest messages, and the displaced messages are counted`()
    throws
  {
    var state = ChatFeature.State(historyLimit: 500)
    let text = String(repeating: "x", count: 64_000)
    state.apply(.reading(.filterChanged(ChatFilter(words: "x"))))
    for id in 1...300 { state.apply(.messages([message(id, id % 3 == 0 ? "short x" : text)])) }
    for history in [state.messages, try #require(state.filtered)] {
      #expect(history.bytes <= MessageHistory.byteLimit(for: 500))
      #expect(history.bytes > MessageHistory.byteLimit(for: 500) / 2)
      #expect(history.count + history.leftOut == 300)
      #expect(history.map(\.number) == Array((301 - history.count)...300), "the newest are kept")
    }
    let restored = try JSONDecoder().decode(
      ChatFeature.State.self, from: JSONEncoder().encode(state))
    #expect(restored == state)
    #expect(restored.messages.bytes == state.messages.bytes)
    // Short messages fit again, up to the maximum number.
    state.apply(.messages((301...900).map { message($0, at: 0) }))
    #expect(state.messages.count == 500)
    #expect(state.messages.map(\.number) == Array(401...900))
  }

  /// The same stream must give the same state in small batches, in large batches, and message by
  /// message.
  @Test(arguments: 1...20)
  func `a chat has the same state whether its messages arrive in batches or singly`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var whole = ChatFeature.State(historyLimit: 7)
    var single = ChatFeature.State(historyLimit: 7)
    var model: [String] = []
    var clearedAt = Timestamp.min
    var time: Timestamp = 100_000
    for round in 0..<60 {
      var batch: [TimedMessage] = []
      for index in 0..<Int.random(in: 0..<30, using: &random) {
        time += Timestamp.random(in: 0..<200, using: &random)
        let late = Timestamp.random(in: 0..<400, using: &random)
        let user = "user\(Int.random(in: 0..<5, using: &random))"
        batch.append(message(round * 100 + index, by: user, at: time - late))
      }
      whole.apply(.messages(batch))
      for one in batch {
        single.apply(.messages([one]))
        if one.timestamp >= clearedAt { model.append(String(one.message.id)) }
      }
      model = model.suffix(7)
      #expect(whole == single)
      #expect(whole.shown == model)
      if Int.random(in: 0..<8, using: &random) == 0 {
        clearedAt = time
        whole.apply(.cleared(at: time))
        single.apply(.cleared(at: time))
        model = []
      }
    }
    #expect(whole.total > 0 && whole.deleted > 0)
  }
}
