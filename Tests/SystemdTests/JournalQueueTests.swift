import Logging
import Systemd
import Testing

private func record(
  _ message: String, _ level: Logger.Level = .info, kind: JournalMessageID? = nil, line: UInt = 1
) -> LogRecord {
  LogRecord(
    level: level, message: message, messageID: kind?.rawValue, label: "test", file: "F.swift",
    function: "f", line: line)
}

private func limits(
  capacity: Int = 4, reserved: Int = 1, burst: Int = 1000
) -> JournalLimits {
  var limits = JournalLimits()
  limits.capacity = capacity
  limits.reservedForErrors = reserved
  limits.rate = JournalRateLimit(burst: burst, intervalNanoseconds: 100)
  limits.ratesByKind = [:]
  return limits
}

/// The outputs, in the notation of the tests.
private func describe(_ output: JournalQueue.Output?) -> String {
  switch output {
  case .entry(let record): record.message
  case .repeated(let record, let count): "\(record.message) x\(count)"
  case .lost(let lost): "lost \(lost.entries)/\(lost.errors)"
  case nil: "-"
  }
}

extension JournalQueue {
  fileprivate mutating func drain(now: UInt64, flushing: Bool = false) -> [String] {
    var all: [String] = []
    while let output = next(now: now, flushing: flushing) { all.append(describe(output)) }
    return all
  }
}

@Suite struct JournalQueueTests {
  @Test
  func `entries leave the journal queue in order of arrival, however often its ring wraps`() {
    var queue = JournalQueue(limits: limits())
    for round in 0..<10 {
      for index in 0..<3 { #expect(queue.offer(record("\(round).\(index)"), now: 0) == .queued) }
      #expect(queue.drain(now: 0) == ["\(round).0", "\(round).1", "\(round).2"])
    }
    #expect(queue.totalLost == LostEntries())
    #expect(queue.nextWake == nil)
  }

  @Test func `the last slots of the journal queue accept only warnings and errors`() {
    var queue = JournalQueue(limits: limits(capacity: 4, reserved: 2))
    #expect(queue.offer(record("a"), now: 0) == .queued)
    #expect(queue.offer(record("b"), now: 0) == .queued)
    #expect(queue.offer(record("c"), now: 0) == .lost)
    #expect(queue.offer(record("w", .warning), now: 0) == .queued)
    #expect(queue.offer(record("e", .error), now: 0) == .queued)
    #expect(queue.offer(record("f", .critical), now: 0) == .lost)
    #expect(queue.totalLost == LostEntries(entries: 2, errors: 1))
  }

  @Test func `lost journal entries are reported once, at the position where they are missing`() {
    var queue = JournalQueue(limits: limits(capacity: 2, reserved: 0))
    for name in ["a", "b", "c", "d"] { _ = queue.offer(record(name), now: 0) }
    #expect(describe(queue.next(now: 0)) == "a")
    _ = queue.offer(record("e"), now: 0)
    #expect(queue.drain(now: 0) == ["b", "lost 2/0", "e"])
    #expect(queue.drain(now: 1_000_000) == [])
    #expect(queue.totalLost == LostEntries(entries: 2))
  }

  @Test
  func `entries above the rate of their kind are counted and reported after the interval`() {
    var queue = JournalQueue(limits: limits(capacity: 100, burst: 2))
    for index in 0..<10 {
      let offer = queue.offer(record("hang \(index)", .error, kind: .hang), now: 5)
      #expect(offer == (index < 2 ? .queued : .heldBack))
    }
    _ = queue.offer(record("other"), now: 5)
    #expect(queue.drain(now: 50) == ["hang 0", "hang 1", "other"])
    #expect(queue.nextWake == 105)
    #expect(queue.drain(now: 104) == [])
    #expect(queue.drain(now: 105) == ["hang 9 x8"])
    #expect(queue.nextWake == nil)
    #expect(queue.offer(record("hang 10", kind: .hang), now: 106) == .queued)
    #expect(queue.totalLost == LostEntries())
  }

  @Test func `log statements without a kind are limited by their source location`() {
    var queue = JournalQueue(limits: limits(capacity: 100, burst: 1))
    #expect(queue.offer(record("a 1", line: 1), now: 0) == .queued)
    #expect(queue.offer(record("a 2", line: 1), now: 0) == .heldBack)
    #expect(queue.offer(record("b 1", line: 2), now: 0) == .queued)
  }

  @Test func `flushing the journal queue reports repeat counts immediately`() {
    var queue = JournalQueue(limits: limits(burst: 1))
    for index in 0..<3 { _ = queue.offer(record("m\(index)"), now: 0) }
    #expect(queue.drain(now: 1, flushing: true) == ["m0", "m2 x2"])
  }

  @Test func `a kind of journal entry can have its own rate limit`() {
    var own = limits(burst: 1000)
    own.ratesByKind = [.inputRejected: JournalRateLimit(burst: 1, intervalNanoseconds: 100)]
    var queue = JournalQueue(limits: own)
    #expect(queue.offer(record("r", kind: .inputRejected), now: 0) == .queued)
    #expect(queue.offer(record("r", kind: .inputRejected), now: 0) == .heldBack)
    #expect(queue.offer(record("o", kind: .roomOpened), now: 0) == .queued)
    #expect(queue.offer(record("o", kind: .roomOpened), now: 0) == .queued)
  }

  @Test func `a journal entry that cannot be written is lost and reported after a pause`() throws {
    var queue = JournalQueue(limits: limits())
    _ = queue.offer(record("a", .error), now: 0)
    let first = queue.next(now: 0)
    let entry = try #require(first)
    queue.failed(entry, now: 10)
    #expect(queue.next(now: 10) == nil)
    let wake = try #require(queue.nextWake)
    #expect(wake == 10 + JournalQueue.retryNanoseconds)
    // Writing the report also fails. The report is repeated, and the total does not grow.
    let second = queue.next(now: wake)
    let lossReport = try #require(second)
    #expect(describe(lossReport) == "lost 1/1")
    queue.failed(lossReport, now: wake)
    #expect(queue.next(now: wake, flushing: true) == nil)
    #expect(queue.drain(now: wake + JournalQueue.retryNanoseconds) == ["lost 1/1"])
    #expect(queue.totalLost == LostEntries(entries: 1, errors: 1))
  }

  @Test func `every journal record is accounted for, in any order of calls`() {
    var generator = SplitMix(state: 1)
    for _ in 0..<200 {
      var queue = JournalQueue(
        limits: limits(
          capacity: .random(in: 1...6, using: &generator), reserved: 0,
          burst: .random(in: 1...4, using: &generator)))
      var now: UInt64 = 0
      var offered: UInt64 = 0
      var written: UInt64 = 0
      func countWritten(_ output: JournalQueue.Output) {
        switch output {
        case .entry: written += 1
        case .repeated(_, let count): written += count
        case .lost: break
        }
      }
      for _ in 0..<200 {
        now += .random(in: 0...40, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          if let output = queue.next(now: now) { countWritten(output) }
        case 1:
          if Bool.random(using: &generator), let output = queue.next(now: now) {
            queue.failed(output, now: now)
          }
        default:
          offered += 1
          let line = UInt.random(in: 1...5, using: &generator)
          _ = queue.offer(record("m", .random(using: &generator), line: line), now: now)
        }
      }
      while let output = queue.next(now: now + 10_000_000_000, flushing: true) {
        countWritten(output)
      }
      #expect(written + queue.totalLost.entries == offered)
      #expect(queue.nextWake == nil)
    }
  }

  @Test func `kinds of entries beyond the limiter's capacity are not limited`() {
    var limiter = RepeatLimiter<Int, Int>(maximumKinds: 2)
    func admits(_ kind: Int, at now: UInt64) -> Bool {
      let limit = JournalRateLimit(burst: 1, intervalNanoseconds: 1_000_000_000)
      return limiter.admit(0, kind: kind, limit: limit, now: now)
    }
    #expect(admits(0, at: 0))
    #expect(admits(1, at: 0))
    for _ in 0..<3 { #expect(admits(7, at: 0)) }
    #expect(!admits(0, at: 0))
    // Windows that are over free their space.
    #expect(admits(7, at: 1_000_000_000))
    #expect(!admits(7, at: 1_000_000_000))
  }
}

extension Logger.Level {
  fileprivate static func random(using generator: inout SplitMix) -> Logger.Level {
    allCases.randomElement(using: &generator) ?? .info
  }
}
