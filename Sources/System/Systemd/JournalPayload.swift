import CSystemd
import Glibc
package import Logging

/// The fields of one journal entry, in the form that `sd_journal_sendv(3)` requires: `NAME=value`,
/// one after the other in one buffer.
package struct JournalPayload: Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// Creates the entry for an output of the queue.
  package init(_ output: JournalQueue.Output, identifier: String) {
    switch output {
    case .entry(let record):
      self.init(record, identifier: identifier, message: record.message)
    case .repeated(let record, let count):
      self.init(
        record, identifier: identifier,
        message: count == 1
          ? record.message : "\(record.message) (the last of \(count) similar entries)")
      append("LIVEHOST_REPEATED", "\(count)")
    case .lost(let lost):
      let record = LogRecord(
        level: JournalMessageID.entriesLost.defaultLevel,
        message:
          "Journal entries lost: \(lost.entries), including warnings or errors: \(lost.errors)",
        messageID: JournalMessageID.entriesLost.rawValue, label: identifier, file: #fileID,
        function: #function, line: #line)
      self.init(record, identifier: identifier, message: record.message)
      append("LIVEHOST_LOST", "\(lost.entries)")
      append("LIVEHOST_LOST_ERRORS", "\(lost.errors)")
    }
  }

  private init(_ record: LogRecord, identifier: String, message: String) {
    append("MESSAGE", message)
    append("PRIORITY", "\(Self.priority(record.level))")
    append("SYSLOG_IDENTIFIER", identifier)
    if let messageID = record.messageID { append("MESSAGE_ID", messageID) }
    append("CODE_FILE", record.file)
    append("CODE_LINE", "\(record.line)")
    append("CODE_FUNC", record.function)
    append("LIVEHOST_LOGGER", record.label)
    for field in record.fields { append(JournalFieldName.make(field.key), field.value) }
  }

  /// Returns the syslog severity of a level (RFC 5424).
  package static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  package var assignments: [String] {
    var start = 0
    return ends.map { end in
      defer { start = end }
      return String(decoding: bytes[start..<end], as: UTF8.self)
    }
  }

  /// Sends the entry to journald. Usually blocks for 16 to 72 us, but waits while journald's socket
  /// is full. Returns 0 or a negative `errno`. If journald does not run, returns 0 although the
  /// entry is lost.
  package func send() -> Int32 {
    bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: iovec.self, capacity: ends.count) { vectors in
        var start = 0
        for (index, end) in ends.enumerated() {
          // The C type lacks const, but sendv only reads.
          let base = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + start) }
          vectors.initializeElement(at: index, to: iovec(iov_base: base, iov_len: end - start))
          start = end
        }
        return sd_journal_sendv(vectors.baseAddress, Int32(ends.count))
      }
    }
  }

  private mutating func append(_ name: String, _ value: String) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "="))
    bytes.append(contentsOf: value.utf8)
    ends.append(bytes.count)
  }
}
