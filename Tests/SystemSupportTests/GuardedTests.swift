import Locking
import SystemSupport
import Testing

@Suite struct GuardedTests {
  @Test func `no concurrent addition to a guarded value is lost`() async {
    final class Counter: Sendable {
      let count = Guarded(0)
    }
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1_000 {
            counter.count.withLock { $0 += 1 }
            // The task may resume on another thread.
            await Task.yield()
          }
        }
      }
    }
    #expect(counter.count.withLock { $0 } == 8_000)
  }

  @Test func `an error thrown while a lock is held is rethrown, and the lock is released`() {
    struct Refused: Error {}
    let value = Guarded([1])
    #expect(throws: Refused.self) { try value.withLock { _ in throw Refused() } }
    #expect(value.withLock { $0 } == [1])
  }
}
