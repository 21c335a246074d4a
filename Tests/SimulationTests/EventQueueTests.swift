import HangSimulation
import Simulation
import Testing

@Suite struct EventQueueTests {
  @Test func `the queue returns events in order of time, and those with equal times as inserted`() {
    var random = SeededGenerator(seed: 3)
    var queue = EventQueue<Int>()
    var expected: [(time: Int64, number: Int)] = []
    for number in 0..<5_000 {
      let time = Int64(random.integer(in: 0...300))
      queue.push(number, at: VirtualTime(nanoseconds: time))
      expected.append((time, number))
    }
    expected.sort { ($0.time, $0.number) < ($1.time, $1.number) }
    for (time, number) in expected {
      #expect(queue.nextTime?.nanoseconds == time)
      let next = queue.pop()
      #expect(next?.element == number)
    }
    #expect(queue.count == 0)
    #expect(queue.nextTime == nil)
  }

  @Test func `the event queue behaves like a sorted list for any mix of pushes and pops`() {
    var random = SeededGenerator(seed: 4)
    var queue = EventQueue<Int>()
    var model: [(time: Int64, number: Int)] = []
    for number in 0..<20_000 {
      if random.isOne(in: 3), !model.isEmpty {
        let first = model.removeFirst()
        let popped = queue.pop()
        #expect(popped?.time.nanoseconds == first.time)
        #expect(popped?.element == first.number)
      } else if model.count < 200 {
        let time = Int64(random.integer(in: 0...50))
        queue.push(number, at: VirtualTime(nanoseconds: time))
        let place = model.firstIndex { $0.time > time } ?? model.count
        model.insert((time, number), at: place)
      }
      #expect(queue.count == model.count)
    }
  }
}
