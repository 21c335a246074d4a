import Synchronization
import SystemSupport
import Systemd
import Testing

@Suite struct WatchdogTests {
  @Test func `the watchdog is not fed before the lanes have answered the first ping`() {
    var watchdog = Watchdog(laneCount: 2)
    let first = watchdog.check(now: 0, heartbeats: [7, 9])
    #expect(first == Watchdog.Step(feed: false, ping: [0, 1]))
    let second = watchdog.check(now: 10, heartbeats: [8, 10])
    #expect(second == Watchdog.Step(feed: true, ping: [0, 1]))
  }

  @Test func `a single silent lane prevents the feeding of the watchdog`() {
    var watchdog = Watchdog(laneCount: 2)
    _ = watchdog.check(now: 0, heartbeats: [0, 0])
    for round in 1...50 as ClosedRange<UInt64> {
      let step = watchdog.check(now: round, heartbeats: [round, 0])
      #expect(!step.feed)
      #expect(step.ping == [0])
      #expect(step.silent == [.init(lane: 1, nanoseconds: round)])
    }
    #expect(watchdog.check(now: 51, heartbeats: [50, 1]).feed)
  }

  @Test func `lanes may answer the watchdog's ping at different checks`() {
    var watchdog = Watchdog(laneCount: 3)
    _ = watchdog.check(now: 0, heartbeats: [0, 0, 0])
    #expect(!watchdog.check(now: 1, heartbeats: [1, 0, 0]).feed)
    #expect(!watchdog.check(now: 2, heartbeats: [1, 1, 0]).feed)
    #expect(watchdog.check(now: 3, heartbeats: [1, 1, 1]).feed)
  }

  @Test func `progress before the last feeding of the watchdog does not count for the next`() {
    var watchdog = Watchdog(laneCount: 1)
    _ = watchdog.check(now: 0, heartbeats: [0])
    #expect(watchdog.check(now: 1, heartbeats: [1]).feed)
    #expect(!watchdog.check(now: 2, heartbeats: [1]).feed)
    #expect(!watchdog.check(now: 3, heartbeats: [1]).feed)
  }

  @Test func `heartbeats without a ping are ignored, and the counter may wrap`() {
    var watchdog = Watchdog(laneCount: 1)
    #expect(!watchdog.check(now: 0, heartbeats: [100]).feed)
    var wrapping = Watchdog(laneCount: 1)
    _ = wrapping.check(now: 0, heartbeats: [.max])
    #expect(wrapping.check(now: 1, heartbeats: [0]).feed)
  }

  @Test func `the watchdog is never fed without lanes or counters`() {
    var none = Watchdog(laneCount: 0)
    #expect(none.check(now: 0, heartbeats: []) == Watchdog.Step())
    var missing = Watchdog(laneCount: 2)
    _ = missing.check(now: 0, heartbeats: [0])
    #expect(!missing.check(now: 1, heartbeats: [1]).feed)
  }

  @Test func `the watchdog checks the lanes four times per interval`() {
    #expect(WatchdogInterval(microseconds: 2_000_000).checkPeriodNanoseconds == 500_000_000)
    #expect(WatchdogInterval(microseconds: .max).checkPeriodNanoseconds == .max)
  }
}

/// A fake event loop whose turns run only when the test runs them.
private final class ManualLane: Sendable {
  private let pings = Mutex<[Heartbeat]>([])

  func watched(_ name: String, _ duty: WatchedThread.Duty = .loop) -> WatchedThread {
    WatchedThread(name: name, duty: duty) { heartbeat in
      self.pings.withLock { $0.append(heartbeat) }
    }
  }

  var pending: Int { pings.withLock { $0.count } }

  func runTurns() {
    for heartbeat in pings.withLock({ queued in
      defer { queued = [] }
      return queued
    }) { heartbeat.beat() }
  }
}

@Suite struct WatchdogDriverTests {
  @Test func `WATCHDOG=1 is not sent while a lane is blocked, and the lane's queue does not grow`()
    throws
  {
    let fed = Mutex(0)
    let notifier = ServiceNotifier { text in
      if text == "WATCHDOG=1" { fed.withLock { $0 += 1 } }
      return 1
    }
    let (first, second) = (ManualLane(), ManualLane())
    var driver = WatchdogDriver(
      threads: [first.watched("first"), second.watched("second")], notifier: notifier)
    #expect(try driver.tick(now: 0) == [])
    for now in 1...3 as ClosedRange<UInt64> {
      first.runTurns()
      second.runTurns()
      #expect(try driver.tick(now: now) == [])
    }
    #expect(fed.withLock { $0 } == 3)
    for now in 4...20 as ClosedRange<UInt64> {
      first.runTurns()
      #expect(try driver.tick(now: now) == [.init(name: "second", nanoseconds: now - 3)])
    }
    #expect(fed.withLock { $0 } == 3)
    #expect(second.pending == 1)
    first.runTurns()
    second.runTurns()
    #expect(try driver.tick(now: 21) == [])
    #expect(fed.withLock { $0 } == 4)
  }

  @Test func `lanes are still pinged after an error of the service manager`() throws {
    let lane = ManualLane()
    var driver = WatchdogDriver(
      threads: [lane.watched("lane")], notifier: ServiceNotifier { _ in -2 })
    _ = try driver.tick(now: 0)
    lane.runTurns()
    #expect(throws: SystemError(.notify, code: 2)) { try driver.tick(now: 1) }
    #expect(lane.pending == 1)
  }
}

@Suite struct WatchdogDutyTests {
  @Test
  func
    `a silent disk thread stops the feeding of the watchdog, but a silent journal thread does not`()
    throws
  {
    let fed = Mutex(0)
    let notifier = ServiceNotifier { _ in
      fed.withLock { $0 += 1 }
      return 1
    }
    let (lane, disk, journal) = (ManualLane(), ManualLane(), ManualLane())
    var driver = WatchdogDriver(
      threads: [
        lane.watched("lane"), disk.watched("recorder", .storage), journal.watched("journal", .log),
      ], notifier: notifier)
    _ = try driver.tick(now: 0)
    lane.runTurns()
    disk.runTurns()
    #expect(try driver.tick(now: 1) == [.init(name: "journal", duty: .log, nanoseconds: 1)])
    #expect(fed.withLock { $0 } == 1)
    lane.runTurns()
    journal.runTurns()
    #expect(try driver.tick(now: 2) == [.init(name: "recorder", duty: .storage, nanoseconds: 1)])
    #expect(fed.withLock { $0 } == 1)
  }
}

@Suite struct WatchdogThreadTests {
  @Test(.timeLimit(.minutes(1)))
  func `the watchdog thread reports when all lanes answer again`() async throws {
    let (looks, looker) = AsyncStream.makeStream(of: [String].self)
    let heartbeat = Mutex<Heartbeat?>(nil)
    let hasStalled = Atomic<Bool>(false)
    // After its first stall, the thread answers immediately.
    let lane = WatchedThread(name: "slow") { beat in
      heartbeat.withLock { $0 = beat }
      if hasStalled.load(ordering: .relaxed) { beat.beat() }
    }
    let watchdog = try WatchdogThread(
      WatchdogDriver(threads: [lane], notifier: ServiceNotifier { _ in 1 }),
      interval: WatchdogInterval(microseconds: 4_000),
      onSilence: { lanes in
        looker.yield(lanes.map(\.name))
        hasStalled.store(true, ordering: .relaxed)
        heartbeat.withLock { $0?.beat() }
      })
    var reported = looks.makeAsyncIterator()
    #expect(await reported.next() == ["slow"])
    #expect(await reported.next() == [])
    watchdog.stop()
  }

  @Test func `the watchdog thread notifies systemd while lanes answer, and reports silent lanes`()
    async throws
  {
    let (fed, feeder) = AsyncStream.makeStream(of: Void.self)
    let (stalls, staller) = AsyncStream.makeStream(of: String.self)
    let notifier = ServiceNotifier { text in
      if text == "WATCHDOG=1" { feeder.yield() }
      return 1
    }
    let interval = WatchdogInterval(microseconds: 4_000)
    let healthy = try WatchdogThread(
      WatchdogDriver(threads: [WatchedThread(name: "good") { $0.beat() }], notifier: notifier),
      interval: interval)
    var iterator = fed.makeAsyncIterator()
    for _ in 0..<3 { await iterator.next() }
    healthy.stop()
    let blocked = try WatchdogThread(
      WatchdogDriver(threads: [WatchedThread(name: "bad") { _ in }], notifier: notifier),
      interval: interval,
      onSilence: { lanes in for lane in lanes { staller.yield(lane.name) } })
    var stalled = stalls.makeAsyncIterator()
    #expect(await stalled.next() == "bad")
    blocked.stop()
  }
}
