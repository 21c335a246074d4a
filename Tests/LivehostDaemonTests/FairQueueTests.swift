import Rooms
import TestSupport
import Testing

@Suite struct FairQueueTests {
  @Test func `the queue serves keys round-robin and keeps the order of each key's items`() {
    var queue = FairQueue<String, Int>()
    for number in 0..<1_000 { queue.append(number, for: "flood") }
    for number in [5, 6] { queue.append(number, for: "calm") }
    var removed: [Int] = []
    for _ in 0..<6 {
      removed.append(queue.removeFirst() ?? -1)
      queue.endTurn()
    }
    #expect(removed == [0, 5, 1, 6, 2, 3])
    #expect(queue.removeFirst() == 4)
    queue.append(7, for: "calm")
    queue.endTurn()
    #expect(queue.removeFirst() == 7)
  }

  @Test func `an unfinished item is returned again after the items of other keys`() {
    var queue = FairQueue<String, Int>()
    queue.append(1, for: "a")
    queue.append(3, for: "b")
    #expect(queue.removeFirst() == 1)
    queue.append(2, for: "a")
    queue.endTurn(leaving: 1)
    for number in [3, 1, 2] {
      #expect(queue.removeFirst() == number)
      queue.endTurn()
    }
    #expect(queue.isEmpty && queue.removeFirst() == nil)
  }

  @Test(arguments: 1...5) func `the queue loses no item and serves every key`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queue = FairQueue<Int, Int>()
    var model: [Int: [Int]] = [:]
    var waited: [Int: Int] = [:]
    for number in 0..<20_000 {
      if Int.random(in: 0..<100, using: &random) < (number < 10_000 ? 60 : 40) {
        let key = Int.random(in: 0..<8, using: &random)
        queue.append(number, for: key)
        model[key, default: []].append(number)
      } else if let first = queue.removeFirst() {
        let key = model.first { $0.value.first == first }?.key ?? -1
        #expect(model[key]?.first == first)
        let isDone = Int.random(in: 0..<4, using: &random) > 0
        if isDone { model[key]?.removeFirst() }
        if model[key]?.isEmpty == true { model[key] = nil }
        for other in model.keys where other != key { waited[other, default: 0] += 1 }
        waited[key] = 0
        #expect(waited.values.allSatisfy { $0 <= 8 })
        for gone in waited.keys where model[gone] == nil { waited[gone] = 0 }
        queue.endTurn(leaving: isDone ? nil : first)
      }
      #expect(queue.isEmpty == model.isEmpty)
    }
  }
}
