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

  @Test func `A pinned notice stays in front and on the board`() {
    var state = ChatFeature.State()
    state.take(.notice(notice(.raid), at: 0), .reading(.noticePinned(1)))
    for _ in 0..<100 { state.take(.notice(notice(.subscribe), at: 0)) }
    #expect(state.notices.front?.number == 1)
    #expect(state.notices.entries.count == NoticeBoard.limit)
    state.take(.reading(.noticeUnpinned(1)))
    #expect(state.notices.front?.number == 101)
    state.take(.notice(notice(.subscribe), at: 0))
    #expect(state.notices.entries.allSatisfy { $0.number != 1 })
  }

  @Test func `However many are pinned, there is room for the newest`() {
    var state = ChatFeature.State()
    for number in 1...NoticeBoard.limit {
      state.take(.notice(notice(.raid), at: 0), .reading(.noticePinned(number)))
    }
    #expect(state.notices.entries.count { $0.isPinned } == NoticeBoard.limit / 2)
    state.take(.notice(notice(.cheer), at: 0))
    #expect(state.notices.entries.last?.notice.kind == .cheer)
  }

  @Test func `A notice that was taken away does not come back with its late gifts`() {
    var state = ChatFeature.State()
    state.take(
      .notice(notice(.giftBomb, count: 3, group: "a"), at: 0), .reading(.noticeDismissed(1)),
      .notice(notice(.gift, group: "a"), at: 9_000))
    #expect(state.notices.entries.isEmpty)
  }
}

/// Gift bombs as they come: a parent that says how many, and its gifts, each at a time of its own.
@Suite struct GiftBombTests {
  /// Sends every element of `bomb` with its delay, those of a lesser delay first.
  private func play(_ notices: [(ChatNotice, delay: Int)]) -> ChatFeature.State {
    var state = ChatFeature.State()
    let order = notices.indices.sorted { (notices[$0].delay, $0) < (notices[$1].delay, $1) }
    for index in order {
      state.take(.notice(notices[index].0, at: Timestamp(notices[index].delay)))
    }
    return state
  }

  @Test(arguments: 0...5) func `Every place of the parent among its gifts gives one entry`(
    place: Int
  ) {
    var notices = (0..<5).map { _ in notice(.gift, group: "a") }
    notices.insert(notice(.giftBomb, count: 5, group: "a"), at: place)
    var state = ChatFeature.State()
    for one in notices { state.take(.notice(one, at: 0)) }
    #expect(state.notices.entries.map(\.count) == [5])
    #expect(state.noticeCount == 6)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `Two bombs of a thousand, late, out of order and with gifts missing, are shown once each`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var notices: [(ChatNotice, delay: Int)] = []
    for (group, count) in [("a", 1_000), ("b", 700)] {
      notices.append((notice(.giftBomb, count: count, group: group), random.pick(0..<10_000)))
      for _ in 0..<count where !random.oneIn(10) {
        notices.append((notice(.gift, group: group), random.pick(0..<10_000)))
      }
    }
    let state = play(notices)
    #expect(state.notices.entries.map(\.count).sorted() == [700, 1_000])
    #expect(state.noticeCount == notices.count)
    #expect(state.notices.entries.map(\.giftsSeen).reduce(0, +) == notices.count - 2)
  }

  @Test func `A bomb of which only the parent comes is shown with its total`() {
    let state = play([(notice(.giftBomb, count: 50, group: "a"), 0)])
    #expect(state.notices.entries.map(\.count) == [50])
  }

  @Test(arguments: [0, 3, 10]) func `A bomb across a restart of the room is shown once in each`(
    before: Int
  ) {
    let gifts = Array(repeating: notice(.gift, group: "a"), count: 10)
    let parent = notice(.giftBomb, count: 10, group: "a")
    // The parent comes after the restart.
    var first = ChatFeature.State()
    for gift in gifts.prefix(before) { first.take(.notice(gift, at: 0)) }
    var second = ChatFeature.State()
    for one in gifts.dropFirst(before) + [parent] { second.take(.notice(one, at: 0)) }
    #expect(first.notices.entries.map(\.count) == (before == 0 ? [] : [before]))
    #expect(second.notices.entries.map(\.count) == [10])
    // It comes again, because the source repeats itself.
    second.take(.notice(parent, at: 0))
    #expect(second.notices.entries.map(\.count) == [10])
  }
}
