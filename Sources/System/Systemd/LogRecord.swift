package import Logging

/// A log event, converted to strings of limited size so that it can wait in a queue and be written
/// on another thread.
package struct LogRecord: Sendable {
  package struct Field: Sendable, Equatable {
    package var key: String
    package var value: String

    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// The maximum length of a message or value in bytes of UTF-8. Longer text is cut and ends with
  /// `…`.
  package static let maximumTextBytes = 8 << 10

  /// The maximum number of fields of a record. Keeps the first fields in the order of their keys,
  /// and drops the others.
  package static let maximumFields = 64

  package var level: Logger.Level
  package var message: String
  /// The identifier of the kind, 32 hexadecimal digits, or nil if the entry has none.
  package var messageID: String?
  /// The fields in the order of their keys, without the message identifier.
  package var fields: [Field]
  package var label: String
  package var file: String
  package var function: String
  package var line: UInt

  package init(
    level: Logger.Level, message: String, messageID: String? = nil, fields: [Field] = [],
    label: String, file: String, function: String, line: UInt
  ) {
    self.level = level
    self.message = Self.bounded(message)
    self.messageID = messageID
    self.fields = fields
    self.label = label
    self.file = file
    self.function = function
    self.line = line
  }

  /// Converts an event. The event's metadata override the metadata provider's, which override the
  /// handler's.
  package init(
    _ event: LogEvent, label: String, metadata: Logger.Metadata,
    provider: Logger.MetadataProvider?
  ) {
    var all = metadata
    if let provider { all.merge(provider.get()) { _, new in new } }
    if let own = event.metadata { all.merge(own) { _, new in new } }
    if let error = event.error, all["error"] == nil { all["error"] = "\(error)" }
    var messageID: String?
    if case .some(let value) = all[JournalMessageID.metadataKey], Self.isIdentifier("\(value)") {
      messageID = "\(value)"
      all[JournalMessageID.metadataKey] = nil
    }
    self.init(
      level: event.level, message: event.message.description, messageID: messageID,
      fields: all.sorted { $0.key < $1.key }.prefix(Self.maximumFields).map {
        Field(key: $0.key, value: Self.bounded("\($0.value)"))
      },
      label: label, file: event.file, function: event.function, line: event.line)
  }

  /// Whether the record is a warning or worse, for which the queue has reserved slots.
  package var isError: Bool { level >= .warning }

  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 32
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  private static func bounded(_ text: String) -> String {
    guard text.utf8.count > maximumTextBytes else { return text }
    // The text is cut between scalars, since half a scalar would become a replacement character.
    let mark = "…"
    var end = text.utf8.index(text.startIndex, offsetBy: maximumTextBytes - mark.utf8.count)
    end = text.unicodeScalars.index(before: text.unicodeScalars.index(after: end))
    return String(text.unicodeScalars[..<end]) + mark
  }
}
