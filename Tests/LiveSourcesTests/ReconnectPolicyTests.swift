import LiveSources
import RateLimiting
import TestSupport
import Testing

struct ReconnectPolicyTests {
  @Test
  func
    `the first attempt is immediate, and the limit of each later wait doubles up to 128 seconds`()
  {
    var generator = SplitMix64(seed: 5)
    var longest = [Double](repeating: 0, count: 11)
    for _ in 0..<2000 {
      var policy = ReconnectPolicy()
      for attempt in longest.indices {
        let next = policy.failed(at: .origin, using: &generator)
        longest[attempt] = max(longest[attempt], Double(next.nanoseconds) / 1e9)
      }
    }
    for (seconds, limit) in zip(longest, [0.0, 1, 2, 4, 8, 16, 32, 64, 128, 128, 128]) {
      #expect(seconds <= limit)
      #expect(seconds >= limit * 0.98)
    }
  }

  @Test func `the random waits before a reconnection are distributed uniformly`() {
    var generator = SplitMix64(seed: 1)
    var waits: [Double] = []
    for _ in 0..<1000 {
      var policy = ReconnectPolicy()
      for _ in 0..<7 { _ = policy.failed(at: .origin, using: &generator) }
      waits.append(Double(policy.failed(at: .origin, using: &generator).nanoseconds) / 1e9)
    }
    #expect(waits.allSatisfy { (0...64).contains($0) })
    #expect((28...36).contains(waits.reduce(0, +) / 1000))
    // With full jitter, some waits are close to zero.
    #expect(waits.filter { $0 < 16 }.count > 200)
  }

  @Test func `the wait is reset only by useful data on a connection that lasted five seconds`() {
    var generator = SplitMix64(seed: 2)
    var policy = ReconnectPolicy()
    for _ in 0..<5 { _ = policy.failed(at: .origin, using: &generator) }
    let connected = Instant.origin + .seconds(100)
    policy.receivedUsefulData(at: connected + .seconds(4), connected: connected)
    #expect(policy.failures == 5)
    policy.receivedUsefulData(at: connected + .seconds(5), connected: connected)
    #expect(policy.failures == 0)
    let now = connected + .seconds(6)
    let next = policy.failed(at: now, using: &generator)
    #expect(next == now)
  }
}

struct LivenessTests {
  private static func instant(_ seconds: Int64) -> Instant { .origin + .seconds(seconds) }

  @Test func `a silent server is sent a ping, and counts as lost if it does not answer`() {
    var liveness = Liveness(silence: .seconds(30), patience: .seconds(10), at: Self.instant(0))
    #expect(liveness.deadline == Self.instant(30))
    let verdict1 = liveness.wake(at: Self.instant(29))
    #expect(verdict1 == nil)
    let verdict2 = liveness.wake(at: Self.instant(30))
    #expect(verdict2 == .ask)
    #expect(liveness.deadline == Self.instant(40))
    let verdict3 = liveness.wake(at: Self.instant(39))
    #expect(verdict3 == nil)
    let verdict4 = liveness.wake(at: Self.instant(40))
    #expect(verdict4 == .dead)
  }

  @Test func `any data from the server counts as an answer to a ping`() {
    var liveness = Liveness(silence: .seconds(30), patience: .seconds(10), at: Self.instant(0))
    let verdict5 = liveness.wake(at: Self.instant(30))
    #expect(verdict5 == .ask)
    liveness.heard(at: Self.instant(35))
    #expect(liveness.deadline == Self.instant(65))
  }

  @Test func `a server that cannot be sent a ping counts as lost after a period of silence`() {
    var liveness = Liveness(silence: .seconds(12), patience: nil, at: Self.instant(0))
    let verdict6 = liveness.wake(at: Self.instant(12))
    #expect(verdict6 == .dead)
  }

  @Test func `while a source does not read, it does not consider its server lost`() {
    var liveness = Liveness(silence: .seconds(30), patience: .seconds(10), at: Self.instant(0))
    liveness.suspend(true, at: Self.instant(5))
    liveness.heard(at: Self.instant(6))
    #expect(liveness.deadline == nil)
    let verdict7 = liveness.wake(at: Self.instant(1000))
    #expect(verdict7 == nil)
    liveness.suspend(false, at: Self.instant(1000))
    #expect(liveness.deadline == Self.instant(1030))
  }
}

struct AttemptBudgetTests {
  @Test func `no time window contains more connection attempts than allowed`() {
    var generator = SplitMix64(seed: 3)
    var budget = AttemptBudget(limit: 20, window: .seconds(10))
    var granted: [Instant] = []
    var now = Instant.origin
    for _ in 0..<500 {
      now = now + .milliseconds(Int64(generator.pick(0..<900)))
      let isAllowed = budget.nextAttempt <= now
      let count = budget.consume(generator.pick(1..<16), at: now)
      #expect((count > 0) == isAllowed)
      granted += repeatElement(now, count: count)
    }
    for first in granted {
      #expect(granted.filter { $0 >= first && $0 - first < .seconds(10) }.count <= 20)
    }
    #expect(granted.count > 400)
  }
}
