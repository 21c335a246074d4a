import Logging
import Synchronization
import Systemd
import Testing

/// A fake journal that stores its entries and can be stalled, like journald.
private final class Journal: Sendable {
  private struct State {
    var entries: [[String]] = []
    var failures = 0
  }
  private let state = Mutex(State())
  private let gate = Mutex(())

  var entries: [[String]] { state.withLock { $0.entries } }
  var messages: [String] {
    entries.map { entry in entry.first { $0.hasPrefix("MESSAGE=") } ?? "" }
      .map { String($0.dropFirst("MESSAGE=".count)) }
  }

  func failNext(_ count: Int) { state.withLock { $0.failures = count } }

  /// Blocks all writes while `body` runs.
  func stalled<Result>(_ body: () throws -> Result) rethrows -> Result {
    try gate.withLock { _ in try body() }
  }

  func writer(_ limits: JournalLimits = JournalLimits()) throws -> JournalWriter {
    try JournalWriter(identifier: "test", limits: limits) { payload in
      self.gate.withLock { _ in }
      return self.state.withLock { state in
        if state.failures > 0 {
          state.failures -= 1
          return -11
        }
        state.entries.append(payload.assignments)
        return 0
      }
    }
  }
}

/// The limit is much longer than any flush here takes. The limit only prevents the test from
/// hanging; nothing is measured.
private let enough: UInt64 = 60_000_000_000

private func logger(_ writer: JournalWriter) -> Logger {
  var logger = Logger(label: "t") { label in
    JournalLogHandler(label: label, writer: writer, level: SharedLogLevel(.trace))
  }
  logger[metadataKey: "room"] = "main"
  return logger
}

@Suite struct JournalWriterTests {
  @Test func `a written entry has the fields that the journal expects`() throws {
    let journal = Journal()
    let writer = try journal.writer()
    logger(writer).log(
      .hang, "Hang", metadata: ["durationUsec": "600000", "room": "other"],
      file: "Module/File.swift", function: "turn()", line: 12)
    #expect(writer.close(timeoutNanoseconds: enough))
    #expect(
      journal.entries == [
        [
          "MESSAGE=Hang", "PRIORITY=3", "SYSLOG_IDENTIFIER=test",
          "MESSAGE_ID=adcd8157f5ed40e18767d1e94a59cac0", "CODE_FILE=Module/File.swift",
          "CODE_LINE=12", "CODE_FUNC=turn()", "LIVEHOST_LOGGER=t",
          "LIVEHOST_DURATION_USEC=600000", "LIVEHOST_ROOM=other",
        ]
      ])
  }

  @Test func `logging never waits for a stalled journal, and the loss is reported afterwards`()
    throws
  {
    let journal = Journal()
    var limits = JournalLimits()
    limits.capacity = 8
    limits.reservedForErrors = 4
    let writer = try journal.writer(limits)
    let log = logger(writer)
    journal.stalled {
      // The thread may already have removed one entry, so one more than the slots may be accepted.
      for index in 0..<50 { log.info("info \(index)") }
      for index in 0..<2 { log.error("error \(index)") }
    }
    #expect(writer.close(timeoutNanoseconds: enough))
    let messages = journal.messages
    let infos = messages.filter { $0.hasPrefix("info") }.count
    #expect((4...5).contains(infos))
    #expect(messages.contains("error 0") && messages.contains("error 1"))
    #expect(writer.lost == LostEntries(entries: UInt64(50 - infos)))
    let reported = journal.entries.filter {
      $0.contains("MESSAGE_ID=\(JournalMessageID.entriesLost.rawValue)")
    }
    #expect(reported.count == 1)
    #expect(reported.first?.contains("LIVEHOST_LOST=\(50 - infos)") == true)
    #expect(reported.first?.contains("LIVEHOST_LOST_ERRORS=0") == true)
  }

  @Test func `flushing a stalled journal returns false at its deadline`() throws {
    let journal = Journal()
    let writer = try journal.writer()
    journal.stalled {
      logger(writer).error("waiting")
      #expect(!writer.flush(timeoutNanoseconds: 1_000_000))
    }
    #expect(writer.close(timeoutNanoseconds: enough))
    #expect(journal.messages == ["waiting"])
  }

  @Test func `a suppressed kind of entry is reported with its count when the log closes`() throws {
    let journal = Journal()
    var limits = JournalLimits()
    limits.ratesByKind[.inputRejected] = JournalRateLimit(
      burst: 2, intervalNanoseconds: .max)
    let writer = try journal.writer(limits)
    for index in 0..<100 { logger(writer).log(.inputRejected, "Rejected \(index)") }
    #expect(writer.close(timeoutNanoseconds: enough))
    #expect(
      journal.messages == [
        "Rejected 0", "Rejected 1", "Rejected 99 (the last of 98 similar entries)",
      ])
    #expect(journal.entries.last?.contains("LIVEHOST_REPEATED=98") == true)
    #expect(writer.lost == LostEntries())
  }

  @Test func `an entry that the journal refuses is counted as lost`() throws {
    let journal = Journal()
    journal.failNext(1)
    let writer = try journal.writer()
    logger(writer).warning("refused")
    #expect(writer.flush(timeoutNanoseconds: enough))
    logger(writer).info("taken")
    #expect(writer.close(timeoutNanoseconds: enough))
    #expect(journal.messages.contains("taken"))
    #expect(writer.lost == LostEntries(entries: 1, errors: 1))
  }

  @Test func `records after the log was closed are counted as lost, and closing again returns`()
    throws
  {
    let journal = Journal()
    let writer = try journal.writer()
    #expect(writer.close(timeoutNanoseconds: enough))
    logger(writer).error("late")
    #expect(writer.close(timeoutNanoseconds: enough))
    #expect(writer.lost == LostEntries(entries: 1, errors: 1))
    #expect(journal.entries.isEmpty)
  }

  @Test func `many threads can log concurrently`() async throws {
    let journal = Journal()
    var limits = JournalLimits()
    limits.capacity = 10_000
    limits.rate.burst = 10_000
    let writer = try journal.writer(limits)
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          let log = logger(writer)
          for index in 0..<500 { log.info("\(task) \(index)") }
        }
      }
    }
    #expect(writer.close(timeoutNanoseconds: enough))
    let messages = journal.messages
    #expect(messages.count == 4000)
    for task in 0..<8 {
      #expect(messages.filter { $0.hasPrefix("\(task) ") } == (0..<500).map { "\(task) \($0)" })
    }
  }
}
