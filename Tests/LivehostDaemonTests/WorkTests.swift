import Rooms
import Synchronization
import Testing

struct WorkTests {
  @Test
  func `a limited number of tasks run concurrently, and the others start in order of arrival`()
    async throws
  {
    let slots = WorkSlots(count: 1)
    let log = Log()
    let first = await TakenSlot(of: slots) { log.append(1) }
    async let second: Void = slots.run { log.append(2) }
    while slots.waitingCount < 1 { await Task.yield() }
    async let third: Void = slots.run { log.append(3) }
    while slots.waitingCount < 2 { await Task.yield() }
    try await first.giveBack()
    _ = try await (second, third)
    #expect(log.numbers == [1, 2, 3])
  }

  @Test func `a waiting task can be cancelled, and new tasks beyond the limit are refused`()
    async throws
  {
    let slots = WorkSlots(count: 1, maximumWaiting: 1)
    let first = await TakenSlot(of: slots)
    let second = Task { try await slots.run {} }
    while slots.waitingCount < 1 { await Task.yield() }
    await #expect(throws: WorkSlots.Full.self) { try await slots.run {} }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(slots.waitingCount == 0)
    try await first.giveBack()
    try await slots.run {}
  }

  @Test func `a running task may wait for its own work even if many tasks wait to start`()
    async throws
  {
    let slots = WorkSlots(count: 1, maximumWaiting: 0)
    let first = await TakenSlot(of: slots)
    await #expect(throws: WorkSlots.Full.self) { try await slots.run {} }
    async let next: Void = slots.run(isNew: false) {}
    while slots.waitingCount < 1 { await Task.yield() }
    try await first.giveBack()
    try await next
  }

  @Test func `tasks run on dedicated threads, and their longest slice is reported`() async throws {
    let executor = WorkExecutor(width: 2)
    try executor.start()
    let sum = await withTaskExecutorPreference(executor) {
      await withTaskGroup(of: Int.self) { group in
        for number in 1...100 {
          group.addTask {
            await Task.yield()
            return number
          }
        }
        return await group.reduce(0, +)
      }
    }
    #expect(sum == 5_050)
    #expect(executor.longestSliceNanoseconds > 0)
    executor.stop()
  }
}

private final class Log: Sendable {
  private let contents = Mutex<[Int]>([])
  var numbers: [Int] { contents.withLock { $0 } }
  func append(_ number: Int) { contents.withLock { $0.append(number) } }
}
