import Rooms
import TestSupport
import Testing

@Suite struct DueTimesTests {
  @Test func `an entry is due in the millisecond in which its time has passed`() {
    let slots = [0, 1, 999_999, 1_000_000, 1_000_001].map { DueTimes<Int>.slot(of: $0) }
    #expect(slots == [0, 1, 1, 1, 2])
  }

  @Test func `nothing is due before its time, and entries with equal times keep their order`() {
    var times = DueTimes<String>()
    times.add("late", at: 9)
    times.add("first", at: 3)
    times.add("second", at: 3)
    times.add("middle", at: 5)
    #expect(times.first == 3)
    #expect(times.popFirst(by: 2) == nil)
    #expect(times.popFirst(by: 5)?.element == "first")
    times.add("third", at: 3)
    var taken: [String] = []
    while let next = times.popFirst(by: 8) { taken.append("\(next.slot) \(next.element)") }
    #expect(taken == ["3 second", "3 third", "5 middle"])
    #expect(times.first == 9)
    #expect(times.popFirst(by: 9)?.element == "late")
    #expect(times.first == nil && times.popFirst(by: .max) == nil)
  }

  @Test(arguments: 1...5) func `every entry becomes due once, in order of time`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var times = DueTimes<Int>()
    var model: [(slot: Int64, number: Int)] = []
    var now: Int64 = 0
    for number in 0..<10_000 {
      let slot = now + Int64.random(in: -5..<50, using: &random)
      times.add(number, at: slot)
      model.append((slot, number))
      guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
      now += Int64.random(in: 0..<5, using: &random)
      // The sort is stable: entries with equal times keep the order in which they were added.
      let due = model.filter { $0.slot <= now }.sorted {
        ($0.slot, $0.number) < ($1.slot, $1.number)
      }
      model.removeAll { $0.slot <= now }
      var taken: [Int] = []
      while let next = times.popFirst(by: now) { taken.append(next.element) }
      #expect(taken == due.map(\.number))
    }
    #expect(times.first == model.map(\.slot).min())
  }
}
