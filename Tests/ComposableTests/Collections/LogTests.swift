import Composable
import Foundation
import TestSupport
import Testing

@Suite struct LogTests {
  @Test func `appending to a full log removes its oldest element`() {
    var log = Log<Int>(capacity: 3)
    #expect(log.isEmpty && log.startSequence == 0 && log.endSequence == 0)
    #expect(log.append(10) == 0)
    #expect(log.append(11) == 1)
    #expect(!log.isFull)
    log.append(12)
    #expect(log.isFull && log.elementsEqual([10, 11, 12]))
    #expect(log.append(13) == 3)
    #expect(log.elementsEqual([11, 12, 13]))
    #expect(log.startSequence == 1 && log.endSequence == 4)
    #expect(log.first == 11 && log.last == 13 && log[1] == 12)
    #expect(log.reversed() == [13, 12, 11])
  }

  @Test func `only the end of a long sequence is stored, but all elements are numbered`() {
    var log = Log(capacity: 3, [1, 2])
    log.append(contentsOf: Array(3...10))
    #expect(log.elementsEqual([8, 9, 10]))
    #expect(log.endSequence == 10)
    var other = Log(capacity: 3, [1, 2])
    other.append(contentsOf: AnySequence(3...10))
    #expect(log == other)
    log.append(contentsOf: EmptyCollection())
    #expect(log == other)
  }

  @Test func `a reader of a log gets the new elements and the number of missed elements`() {
    var log = Log(capacity: 3, 0..<2)
    let first = log.suffix(since: 0)
    #expect(first.missed == 0 && first.elements.elementsEqual([0, 1]) && first.next == 2)
    log.append(2)
    let second = log.suffix(since: first.next)
    #expect(second.missed == 0 && second.elements.elementsEqual([2]))
    log.append(contentsOf: 3..<10)
    let third = log.suffix(since: second.next)
    #expect(third.missed == 4 && third.elements.elementsEqual([7, 8, 9]) && third.next == 10)
    let fourth = log.suffix(since: third.next)
    #expect(fourth.missed == 0 && fourth.elements.isEmpty && fourth.next == 10)
    #expect(log.suffix(since: 99).elements.isEmpty && log.suffix(since: 99).missed == 0)
  }

  @Test func `sequence numbers continue after all elements are removed`() {
    var log = Log(capacity: 3, 0..<5)
    log.removeAll()
    #expect(log.isEmpty && log.startSequence == 5 && log.endSequence == 5)
    #expect(log.suffix(since: 3).missed == 2)
    log.append(5)
    #expect(log[sequence: 5] == 5 && log[sequence: 4] == nil)
  }

  @Test func `elements are found by sequence number until they are removed`() {
    let log = Log(capacity: 3, 0..<5)
    #expect(log[sequence: 1] == nil && log[sequence: 2] == 2 && log[sequence: 4] == 4)
    #expect(log[sequence: 5] == nil)
    #expect(log.index(ofSequence: 2) == 0 && log.index(ofSequence: 1) == nil)
    #expect(log.sequence(at: 2) == 4)
  }

  @Test func `elements can be changed by sequence number until they are removed`() {
    var log = Log(capacity: 3, 0..<5)
    #expect(
      log.modify(3) {
        $0 = 30
        return "done"
      } == "done")
    #expect(log.elementsEqual([2, 30, 4]))
    #expect(log.modify(1) { $0 = 0 } == nil)
    #expect(log.modify(5) { $0 = 0 } == nil)
    #expect(log.elementsEqual([2, 30, 4]))
  }

  @Test func `a change happens in place and does not affect a copy`() {
    var log = Log<[Int]>(capacity: 2)
    for value in 0..<5 { log.append([value, value]) }
    let address = log[sequence: 4]?.address
    log.modify(4) { $0[0] = 9 }
    #expect(log[sequence: 4]?.address == address)
    let copy = log
    log.modify(4) { $0[0] = 10 }
    log.append([])
    #expect(copy.elementsEqual([[3, 3], [9, 4]]))
    #expect(log.elementsEqual([[10, 4], []]))
  }

  @Test
  func `logs with equal capacities, elements and numbers are equal, wherever their ring begins`() {
    let grown = Log(capacity: 3, 0..<5)
    var rotated = Log(capacity: 3, 0..<4)
    rotated.append(4)
    #expect(grown == rotated && grown.hashValue == rotated.hashValue)
    #expect(grown != Log(capacity: 3, 2..<5))
    #expect(grown != Log(capacity: 4, 0..<5))
    #expect(grown.resized(to: 3) == grown)
  }

  @Test func `resizing keeps the newest elements and their numbers`() {
    let log = Log(capacity: 4, 0..<10)
    let small = log.resized(to: 2)
    #expect(small.elementsEqual([8, 9]) && small.startSequence == 8 && small.endSequence == 10)
    var large = log.resized(to: 100)
    large.append(10)
    #expect(large.elementsEqual([6, 7, 8, 9, 10]) && large.startSequence == 6)
  }

  @Test func `a log is unchanged after encoding and decoding`() throws {
    let log = Log(capacity: 3, ["a", "b", "c", "d"])
    let data = try JSONEncoder().encode(log)
    #expect(try JSONDecoder().decode(Log<String>.self, from: data) == log)
  }

  @Test(
    arguments: [
      #"{"capacity":0,"endSequence":0,"elements":[]}"#,
      #"{"capacity":-1,"endSequence":0,"elements":[]}"#,
      #"{"capacity":1,"endSequence":2,"elements":[1,2]}"#,
      #"{"capacity":5,"endSequence":1,"elements":[1,2]}"#,
    ])
  func `decoding rejects logs with impossible values`(json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Log<Int>.self, from: Data(json.utf8))
    }
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `a log behaves like an array with a maximum length`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let capacity = 1 + generator.pick(0..<20)
    var log = Log<Int>(capacity: capacity)
    var all: [Int?] = []
    var read: UInt64 = 0
    for step in 0..<2_000 {
      switch generator.pick(0..<8) {
      case 0:
        let count = generator.pick(0..<(2 * capacity))
        let elements = Array(repeating: step, count: count)
        all += elements.map(Optional.some)
        log.append(contentsOf: elements)
      case 1 where generator.pick(0..<20) == 0:
        log.removeAll()
        all = Array(repeating: nil, count: all.count)
      case 2:
        let sequence = UInt64(generator.pick(0..<(all.count + 2)))
        let there = log.modify(sequence) { $0 += 1_000 } != nil
        let index = Int(sequence)
        let expected = index < all.count && index >= all.count - capacity && all[index] != nil
        #expect(there == expected)
        if expected { all[index]? += 1_000 }
      case 3:
        let reading = log.suffix(since: read)
        let kept = all[Int(read)...].suffix(capacity).compactMap(\.self)
        #expect(reading.elements.elementsEqual(kept))
        #expect(reading.missed == UInt64(all.count) - read - UInt64(kept.count))
        read = reading.next
      default:
        all.append(step)
        log.append(step)
      }
      let expected = all.suffix(capacity).compactMap(\.self)
      #expect(log.elementsEqual(expected))
      #expect(log.count == expected.count && log.last == expected.last)
      #expect(log.endSequence == UInt64(all.count))
    }
  }
}
