import Logging
import Synchronization
import Systemd
import Testing

private struct Failure: Error, CustomStringConvertible {
  let description = "disk full"
}

private let morning = TimeOfDay(hour: 7, minute: 5, second: 9, millisecond: 42)

private func record(
  _ message: String, level: Logger.Level = .info, fields: [LogRecord.Field] = []
) -> LogRecord {
  LogRecord(
    level: level, message: message, fields: fields, label: "l", file: "f", function: "g", line: 1)
}

@Suite struct LogRecordTests {
  private func logged(
    _ metadata: Logger.Metadata, message: Logger.Message = "m", error: (any Error)? = nil,
    handler: Logger.Metadata = [:], provider: Logger.Metadata = [:]
  ) -> LogRecord {
    LogRecord(
      LogEvent(
        level: .info, message: message, error: error, metadata: metadata, source: nil, file: "F",
        function: "f", line: 1),
      label: "l", metadata: handler, provider: Logger.MetadataProvider { provider })
  }

  @Test func `metadata of the statement override the provider's, which override the logger's`() {
    let record = logged(
      ["a": "statement"], handler: ["a": "logger", "b": "logger", "c": "logger"],
      provider: ["a": "provider", "b": "provider"])
    #expect(
      record.fields == [
        .init(key: "a", value: "statement"), .init(key: "b", value: "provider"),
        .init(key: "c", value: "logger"),
      ])
  }

  @Test func `a valid message identifier is removed from the fields of a log record`() {
    let good = logged([
      JournalMessageID.metadataKey: .string(JournalMessageID.configurationReloaded.rawValue)
    ])
    #expect(good.messageID == JournalMessageID.configurationReloaded.rawValue)
    #expect(good.fields.isEmpty)
    let bad = logged([JournalMessageID.metadataKey: "hang"])
    #expect(bad.messageID == nil)
    #expect(bad.fields == [.init(key: JournalMessageID.metadataKey, value: "hang")])
  }

  @Test func `an error in a log record becomes a field`() {
    #expect(logged([:], error: Failure()).fields == [.init(key: "error", value: "disk full")])
  }

  @Test(arguments: ["x", "é", "€", "😀"])
  func `long text in a log record is cut between characters`(letter: String) {
    let long = String(repeating: letter, count: 10_000)
    let record = logged(["k": .string("a" + long)], message: "\(long)")
    for text in [record.message, record.fields[0].value] {
      #expect(text.utf8.count <= LogRecord.maximumTextBytes)
      #expect(text.utf8.count > LogRecord.maximumTextBytes - 8)
      #expect(text.hasSuffix("\(letter)…"))
      #expect(!text.unicodeScalars.contains("\u{fffd}"))
    }
    #expect(logged([:], message: "short").message == "short")
  }

  @Test func `the number of fields of a log record is limited`() {
    let many = Logger.Metadata(
      uniqueKeysWithValues: (0..<500).map { ("k\($0)", .string("v")) })
    #expect(logged(many).fields.count == LogRecord.maximumFields)
  }

  @Test func `log levels are mapped to syslog severities`() {
    #expect(Logger.Level.allCases.map(JournalPayload.priority) == [7, 7, 6, 5, 4, 3, 2])
  }
}

@Suite struct ConsoleLineTests {
  @Test func `a printed log line has time, level, message and values`() {
    let line = ConsoleLine.format(
      record(
        "Room opened", level: .notice,
        fields: [.init(key: "room", value: "main"), .init(key: "by", value: "a b")]),
      at: morning, colour: false)
    #expect(line == "07:05:09.042 notice   Room opened room=main by=\"a b\"\n")
  }

  @Test func `text from outside can neither forge a log line nor control the terminal`() {
    let line = ConsoleLine.format(
      record(
        "a\nb\u{1b}[2J\u{9b}1m\u{202e}",
        fields: [.init(key: "k\r", value: "x\"y\nz"), .init(key: "e", value: "")]),
      at: morning, colour: false)
    #expect(
      line
        == "07:05:09.042 info     a\\nb\\u{1b}[2J\\u{9b}1m\\u{202e} k\\r=\"x\\\"y\\nz\" e=\"\"\n")
  }

  @Test func `colours do not change the text of a log line`() {
    for level in Logger.Level.allCases {
      let sample = record("m", level: level, fields: [.init(key: "k", value: "v")])
      let coloured = ConsoleLine.format(sample, at: morning, colour: true)
      #expect(coloured.contains("\u{1b}["))
      #expect(
        coloured.replacing(/\u{1b}\[[0-9]*m/, with: "")
          == ConsoleLine.format(sample, at: morning, colour: false))
    }
  }

  @Test func `the handler prints one line per statement, without the message identifier`() {
    let lines = Lines()
    var logger = Logger(label: "l") { label in
      ConsoleLogHandler(
        label: label, level: SharedLogLevel(.info), metadataProvider: nil, colour: false,
        write: { lines.append($0) })
    }
    logger[metadataKey: "room"] = "main"
    logger.debug("hidden")
    logger.log(.roomOpened, "Opened")
    #expect(
      lines.all.map { $0.dropFirst("00:00:00.000 ".count) } == ["notice   Opened room=main\n"])
  }
}

private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func append(_ line: String) { lines.withLock { $0.append(line) } }
}

@Suite struct LogLevelTests {
  @Test func `loggers follow the shared level until their own level is set`() {
    let shared = SharedLogLevel(.info)
    let first = Logger(label: "a") { ConsoleLogHandler(label: $0, level: shared) }
    var second = first
    second.logLevel = .error
    #expect(first.logLevel == .info)
    shared.level = .debug
    #expect(first.logLevel == .debug)
    #expect(second.logLevel == .error)
  }
}

@Suite struct LogDestinationTests {
  @Test(
    arguments: [
      ("8:42", LogDestination.journal),
      ("8:43", .console), ("9:42", .console), ("8", .console), ("8:42:1", .console), ("", .console),
      ("x:42", .console), (nil, .console),
    ] as [(String?, LogDestination)])
  func `the journal is used only if standard error is connected to it`(
    stream: String?, expected: LogDestination
  ) {
    #expect(LogDestination.detect(journalStream: stream, device: 8, inode: 42) == expected)
  }

  @Test func `the console log loses no entries, and closing it succeeds`() throws {
    let log = try ServiceLog(identifier: "t", level: .info, destination: .console)
    #expect(log.handler(label: "l") is ConsoleLogHandler)
    #expect(log.lost == LostEntries())
    #expect(log.close(timeoutNanoseconds: 0))
  }

  @Test func `in a service, handlers write to the journal`() throws {
    let log = try ServiceLog(identifier: "t", level: .info, destination: .journal)
    #expect(log.handler(label: "l") is JournalLogHandler)
    #expect(log.close(timeoutNanoseconds: 60_000_000_000))
  }
}
