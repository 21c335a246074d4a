import ChatFeature
import LiveEvents
import TestSupport
import Testing

@Suite struct NoticeBoardTests {
  @Test func `notices are counted, and the newest are kept`() {
    var state = ChatFeature.State()
    for index in 1...100 { state.apply(.notice(notice(.subscribe), at: Timestamp(index))) }
    #expect(state.noticeCount == 100)
    #expect(state.notices.entries.count == NoticeBoard.limit)
    #expect(state.notices.entries.last?.number == 100)
  }

  @Test(arguments: 1...10)
  func `two gift bombs are two notices, in whatever order their gifts arrive`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var events = [
      notice(.giftBomb, count: 50, group: "a"),
      notice(.giftBomb, count: 20, group: "b", by: "bob"),
    ]
    // Five gifts of the second bomb are missing.
    events += (0..<50).map { _ in notice(.gift, group: "a") }
    events += (0..<15).map { _ in notice(.gift, group: "b", by: "bob") }
    events.shuffle(using: &random)
    var state = ChatFeature.State()
    for event in events { state.apply(.notice(event, at: 1_000)) }
    #expect(state.noticeCount == 67)
    #expect(!state.notices.isHolding, "both parents came")
    let entries = state.notices.entries.sorted { $0.count > $1.count }
    #expect(entries.map(\.count) == [50, 20])
    #expect(entries.map(\.giftsSeen) == [50, 15])
    #expect(entries.allSatisfy { $0.notice.kind == .giftBomb })
  }

  @Test
  func `a gift bomb without an announcement is shown once after the window, with its gifts`() {
    var state = ChatFeature.State()
    for time: Timestamp in [0, 4_000, 9_999] {
      state.apply(.notice(notice(.gift, group: "a"), at: time))
    }
    state.apply(.ticked(at: 9_999))
    #expect(state.notices.entries.isEmpty)
    #expect(state.notices.isHolding)
    state.apply(.ticked(at: 10_000))
    #expect(state.notices.entries.map(\.count) == [3])
    #expect(!state.notices.isHolding)
    // Later gifts are added, and the announcement corrects the total.
    state.apply(.notice(notice(.gift, group: "a"), at: 11_000))
    #expect(state.notices.entries.map(\.count) == [4])
    state.apply(.notice(notice(.giftBomb, count: 6, group: "a"), at: 60_000))
    #expect(state.notices.entries.map(\.count) == [6])
  }

  @Test func `the announcement of a gift bomb shows it immediately`() {
    var state = ChatFeature.State()
    state.apply(
      .notice(notice(.gift, group: "a"), at: 0), .notice(notice(.raid), at: 1),
      .notice(notice(.giftBomb, count: 5, group: "a"), at: 2))
    #expect(state.notices.entries.map(\.notice.kind) == [.raid, .giftBomb])
    #expect(state.notices.front?.count == 5)
  }

  @Test
  func `if too many gift bombs wait for an announcement, the oldest ones are shown early`() {
    var state = ChatFeature.State()
    for bomb in 0...NoticeBoard.limit {
      state.apply(.notice(notice(.gift, group: "bomb \(bomb)"), at: 0))
    }
    #expect(state.notices.entries.map(\.number) == [1])
  }

  @Test(arguments: [Timestamp.min, .max])
  func `waiting gifts with extreme timestamps become at most two notices`(
    time: Timestamp
  ) {
    var state = ChatFeature.State()
    state.apply(.notice(notice(.gift, group: "a"), at: time), .ticked(at: ~time), .ticked(at: time))
    state.apply(.notice(notice(.gift, group: "b"), at: ~time), .ticked(at: .max))
    #expect(state.notices.entries.count <= 2)
  }

  @Test func `a late gift does not restore a gift bomb that has left the board`() {
    var state = ChatFeature.State()
    state.apply(.notice(notice(.giftBomb, count: 9, group: "a"), at: 0))
    for _ in 0..<NoticeBoard.limit { state.apply(.notice(notice(.raid), at: 0)) }
    state.apply(.notice(notice(.gift, group: "a"), at: 0))
    #expect(state.notices.entries.allSatisfy { $0.notice.kind == .raid })
  }

  @Test func `a pinned notice stays first on the board`() {
    var state = ChatFeature.State()
    state.apply(.notice(notice(.raid), at: 0), .reading(.noticePinned(1)))
    for _ in 0..<100 { state.apply(.notice(notice(.subscribe), at: 0)) }
    #expect(state.notices.front?.number == 1)
    #expect(state.notices.entries.count == NoticeBoard.limit)
    state.apply(.reading(.noticeUnpinned(1)))
    #expect(state.notices.front?.number == 101)
    state.apply(.notice(notice(.subscribe), at: 0))
    #expect(state.notices.entries.allSatisfy { $0.number != 1 })
  }

  @Test func `the newest notice is on the board even if as many notices as possible are pinned`() {
    var state = ChatFeature.State()
    for number in 1...NoticeBoard.limit {
      state.apply(.notice(notice(.raid), at: 0), .reading(.noticePinned(number)))
    }
    #expect(state.notices.entries.count { $0.isPinned } == NoticeBoard.limit / 2)
    state.apply(.notice(notice(.cheer), at: 0))
    #expect(state.notices.entries.last?.notice.kind == .cheer)
  }

  @Test func `late gifts do not restore a gift bomb whose notice was dismissed`() {
    var state = ChatFeature.State()
    state.apply(
      .notice(notice(.giftBomb, count: 3, group: "a"), at: 0), .reading(.noticeDismissed(1)),
      .notice(notice(.gift, group: "a"), at: 9_000))
    #expect(state.notices.entries.isEmpty)
  }
}

/// Gift bombs with realistic delivery: an announcement with the total, and gifts with individual
/// delays.
@Suite struct GiftBombTests {
  /// Sends the notices in order of their delays.
  private func play(_ notices: [(ChatNotice, delay: Int)]) -> ChatFeature.State {
    var state = ChatFeature.State()
    let order = notices.indices.sorted { (notices[$0].delay, $0) < (notices[$1].delay, $1) }
    for index in order {
      state.apply(.notice(notices[index].0, at: Timestamp(notices[index].delay)))
    }
    return state
  }

  @Test(arguments: 0...5)
  func `a gift bomb is one notice, wherever its announcement is among the gifts`(
    place: Int
  ) {
    var notices = (0..<5).map { _ in notice(.gift, group: "a") }
    notices.insert(notice(.giftBomb, count: 5, group: "a"), at: place)
    var state = ChatFeature.State()
    for one in notices { state.apply(.notice(one, at: 0)) }
    #expect(state.notices.entries.map(\.count) == [5])
    #expect(state.noticeCount == 6)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `two large gift bombs with late, reordered, and missing gifts are shown once each`(
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

  @Test
  func `a gift bomb of which only the announcement arrives is shown with its announced total`() {
    let state = play([(notice(.giftBomb, count: 50, group: "a"), 0)])
    #expect(state.notices.entries.map(\.count) == [50])
  }

  /// Splits a bomb at every position, with the announcement in either part.
  @Test
  func `a gift bomb during a restart is shown at most once before and once after the restart`() {
    let gift = notice(.gift, group: "a")
    let parent = notice(.giftBomb, count: 4, group: "a")
    for place in 0...4 {
      var bomb = Array(repeating: gift, count: 4)
      bomb.insert(parent, at: place)
      for cut in 0...bomb.count {
        var first = ChatFeature.State()
        var second = ChatFeature.State()
        for one in bomb.prefix(cut) { first.apply(.notice(one, at: 0)) }
        for one in bomb.dropFirst(cut) { second.apply(.notice(one, at: 1_000)) }
        // The first room shows the bomb only if the announcement arrived, not for its gifts alone.
        #expect(first.notices.entries.map(\.count) == (cut > place ? [4] : []))
        // The announcement arrives again, because sources repeat events.
        if cut <= place { second.apply(.notice(parent, at: 2_000)) }
        second.apply(.ticked(at: 30_000))
        let rest = bomb.count - cut
        #expect(
          second.notices.entries.map(\.count) == (cut <= place ? [4] : rest == 0 ? [] : [rest]))
      }
    }
  }
}

/// All orders of two small interleaved bombs, with all combinations of missing gifts, and all
/// distributions over the window.
@Suite struct EveryGiftBombTests {
  private enum Piece: CaseIterable { case parentA, giftA, parentB, giftB }

  /// Returns all distinct sequences with the given number of each piece.
  private func orders(_ left: [Piece: Int]) -> [[Piece]] {
    if left.values.allSatisfy({ $0 == 0 }) { return [[]] }
    return Piece.allCases.filter { left[$0, default: 0] > 0 }.flatMap { piece in
      orders(left.merging([piece: left[piece, default: 0] - 1]) { $1 }).map { [piece] + $0 }
    }
  }

  /// Returns all ascending sequences of `count` of these times.
  private func times(_ count: Int, of times: ArraySlice<Timestamp>) -> [[Timestamp]] {
    guard count > 0 else { return [[]] }
    return times.indices.flatMap { index in
      self.times(count - 1, of: times[index...]).map { [times[index]] + $0 }
    }
  }

  @Test(arguments: 0...2, 0...2)
  func `two gift bombs are shown once with their totals, in any order and with any delays`(
    giftsA: Int, giftsB: Int
  ) throws {
    let orders = orders([.parentA: 1, .giftA: giftsA, .parentB: 1, .giftB: giftsB])
    let delays = times(giftsA + giftsB + 2, of: [0, 4_999, 9_999])
    for order in orders {
      for delay in delays { try play(order, at: delay, totals: [5, 3]) }
    }
  }

  /// A bomb whose announcement never arrives, together with a complete bomb.
  @Test(arguments: 1...3, 0...2)
  func `gifts whose announcement never arrives are shown once after the window`(
    giftsA: Int, giftsB: Int
  ) throws {
    let orders = orders([.giftA: giftsA, .parentB: 1, .giftB: giftsB])
    let delays = times(giftsA + giftsB + 1, of: [0, 4_999, 9_999])
    for order in orders {
      for delay in delays { try play(order, at: delay, totals: [giftsA, 3]) }
    }
  }

  private func play(_ order: [Piece], at times: [Timestamp], totals: [Int]) throws {
    var state = ChatFeature.State()
    /// The total with which each bomb was first shown, by number.
    var shown: [Int: Int] = [:]
    func look() throws {
      let entries = state.notices.entries
      try #require(Set(entries.map(\.number)).count == entries.count, "\(order) \(times)")
      for entry in entries {
        let first = shown[entry.number] ?? entry.count
        try #require(entry.count == first, "shown with another count: \(order) \(times)")
        shown[entry.number] = first
      }
    }
    for (piece, time) in zip(order, times) {
      // The announced totals are higher than the numbers of gifts, because some gifts are missing.
      let one =
        switch piece {
        case .parentA: notice(.giftBomb, count: totals[0], group: "a")
        case .giftA: notice(.gift, group: "a")
        case .parentB: notice(.giftBomb, count: totals[1], group: "b")
        case .giftB: notice(.gift, group: "b")
        }
      state.apply(.notice(one, at: time))
      try look()
    }
    for second in 10...20 {
      state.apply(.ticked(at: Timestamp(second) * 1_000))
      try look()
    }
    try #require(shown.values.sorted() == totals.sorted(), "\(order) \(times)")
    try #require(!state.notices.isHolding)
  }
}
