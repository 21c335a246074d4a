import ChatFeature
import LiveEvents
import TestSupport
import Testing

@Suite struct NoticeBoardTests {
  @Test func noticesAreCountedAndTheLastOnesKept() {
    var state = ChatFeature.State()
    for index in 1...100 { state.take(.notice(notice(.subscribe), at: Timestamp(index))) }
    #expect(state.noticeCount == 100)
    #expect(state.notices.entries.count == NoticeBoard.limit)
    #expect(state.notices.entries.last?.number == 100)
  }

  @Test(arguments: 1...10) func twoGiftBombsAreTwoEntriesInAnyOrder(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var events = [
      notice(.giftBomb, count: 50, group: "a"),
      notice(.giftBomb, count: 20, group: "b", by: "bob"),
    ]
    // Five gifts of the second are missing.
    events += (0..<50).map { _ in notice(.gift, group: "a") }
    events += (0..<15).map { _ in notice(.gift, group: "b", by: "bob") }
    events.shuffle(using: &random)
    var state = ChatFeature.State()
    for event in events { state.take(.notice(event, at: 1_000)) }
    #expect(state.noticeCount == 67)
    let entries = state.notices.entries.sorted { $0.count > $1.count }
    #expect(entries.map(\.count) == [50, 20])
    #expect(entries.map(\.giftsSeen) == [50, 15])
    #expect(entries.allSatisfy { $0.notice.kind == .giftBomb })
  }

  @Test func aBombWithoutItsParentIsCountedByItsGifts() {
    var state = ChatFeature.State()
    for _ in 0..<3 { state.take(.notice(notice(.gift, group: "a"), at: 0)) }
    #expect(state.notices.entries.map(\.count) == [3])
  }

  @Test func aLateGiftDoesNotBringABombBackThatLeftTheBoard() {
    var state = ChatFeature.State()
    state.take(.notice(notice(.giftBomb, count: 9, group: "a"), at: 0))
    for _ in 0..<NoticeBoard.limit { state.take(.notice(notice(.raid), at: 0)) }
    state.take(.notice(notice(.gift, group: "a"), at: 0))
    #expect(state.notices.entries.allSatisfy { $0.notice.kind == .raid })
  }
}
