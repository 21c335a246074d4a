import JSON
import Synchronization

/// The first line of a batch in the log, written as a change: it names the room to which the
/// following lines belong.
///
/// Each batch has a *log sequence*. All rooms share one counter, and a restart continues it, so no
/// number is used twice. The numbers of one room increase, but not by one.
package struct LogMark: Sendable, Codable, Equatable {
  package let room: String
  /// The log sequence of the batch.
  package let sequence: Int
  /// The log sequence of the room's previous batch; 0 if this batch opens the room. A room whose
  /// state has another log sequence lacks a batch in between.
  package let after: Int
  /// The recording to which the batch is copied, if any.
  package var recording: String?
  /// In the first batch of a room: when it was opened, in milliseconds since 1970.
  package var opened: Int?
  /// Whether the room is closed for good with this batch.
  package var closed: Bool?

  package init(room: String, sequence: Int, after: Int, recording: String? = nil) {
    (self.room, self.sequence, self.after, self.recording) = (room, sequence, after, recording)
  }

  /// One JSON object on one line. The names of rooms and recordings need no escapes.
  var text: String {
    var text = #"{"room":"\#(room)","sequence":\#(sequence),"after":\#(after)"#
    if let recording { text += #","recording":"\#(recording)""# }
    if let opened { text += #","opened":\#(opened)"# }
    if closed == true { text += #","closed":true"# }
    return text + "}"
  }
}

extension LogMark {
  /// `nil` if the step is not a mark. An invalid mark names no room: the following lines must not
  /// be attributed to the room before it.
  package init?(_ step: RecordedStep) {
    guard case .change(let text, _) = step else { return nil }
    self.init(text: text)
  }

  init?(text: String) {
    var text = text
    guard text.utf8.starts(with: #"{"room":"#.utf8) else { return nil }
    if let mark = LogMark(plain: text) {
      self = mark
    } else if text.withUTF8(KeptNumbers.impossibleMember) == nil,
      let mark: LogMark = try? JSONValue(parsing: text).decode(), mark.sequence > mark.after,
      mark.after >= 0
    {
      self = mark
    } else {
      self.init(room: "", sequence: 1, after: 0)
    }
  }

  /// Parses the common form without a JSON parser, since every batch has a mark.
  private init?(plain text: String) {
    let parts = text.utf8.dropLast().split(separator: UInt8(ascii: ","))
    guard parts.count == 3 || parts.count == 4,
      let sequence = Int(Substring(parts[1].dropFirst(11))),
      let after = Int(Substring(parts[2].dropFirst(8))), KeptNumbers.range.contains(sequence),
      (0..<sequence).contains(after)
    else { return nil }
    var mark = LogMark(
      room: String(Substring(parts[0].dropFirst(9).dropLast())), sequence: sequence, after: after)
    if parts.count == 4 { mark.recording = String(Substring(parts[3].dropFirst(13).dropLast())) }
    guard mark.text == text else { return nil }
    self = mark
  }
}

/// The counter for log sequences. May be used from any thread.
final class LogSequence: Sendable {
  private let value = Atomic<Int>(0)

  /// Returns the next number.
  func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }

  /// The newest number; 0 if there is none.
  var newest: Int { value.load(ordering: .relaxed) }

  /// Ensures that all later numbers are larger than this one.
  func note(_ sequence: Int) { _ = value.max(sequence, ordering: .relaxed) }
}
