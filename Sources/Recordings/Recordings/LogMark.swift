import JSON
import LiveEvents
import Synchronization

/// The first line of a batch in the log, written as a change. It names the room of the lines that
/// follow.
///
/// Each batch has a *log sequence*. All rooms share one counter, and a restart continues it, so no
/// number is used twice. The numbers of one room rise, but not by one.
package struct LogMark: Sendable, Codable, Equatable {
  package let room: String
  /// The log sequence of the batch.
  package let sequence: Int
  /// The log sequence of the room's previous batch; 0 if this batch opens the room. If the state of
  /// the room has another log sequence, a batch in between is missing.
  package let after: Int
  /// The recording to which the batch is copied, if any.
  package var recording: String?
  /// In the first batch of a room: when the room was opened, in milliseconds since 1970.
  package var opened: Int?
  /// Whether this batch closes the room permanently.
  package var closed: Bool?

  package init(room: String, sequence: Int, after: Int, recording: String? = nil) {
    (self.room, self.sequence, self.after, self.recording) = (room, sequence, after, recording)
  }

  /// A JSON object on one line. The names of rooms and recordings need no escapes.
  var text: String {
    var text = #"{"room":"\#(room)","sequence":\#(sequence),"after":\#(after)"#
    if let recording { text += #","recording":"\#(recording)""# }
    if let opened { text += #","opened":\#(opened)"# }
    if closed == true { text += #","closed":true"# }
    return text + "}"
  }
}

extension LogMark {
  /// Reads the mark in a step; `nil` if the step is not a mark.
  ///
  /// An invalid mark yields a mark without a room name, so that the lines after it are not
  /// attributed to the previous room.
  package init?(_ step: RecordedStep) {
    guard case .change(let text, _) = step else { return nil }
    self.init(text: text)
  }

  init?(text: String) {
    guard text.utf8.starts(with: #"{"room":"#.utf8) else { return nil }
    let mark = LogMark(plain: text) ?? (try? JSONValue(parsing: text).decode())
    self = mark.flatMap { $0.isPossible ? $0 : nil } ?? LogMark(room: "", sequence: 1, after: 0)
  }

  /// Whether the numbers are in order and small enough that later ones cannot overflow.
  private var isPossible: Bool {
    after >= 0 && after < sequence && sequence.isCountable
      && EventLimits.total.contains(opened ?? 0)
  }

  /// Parses the usual form. A JSON parser would be too slow, since every batch has a mark.
  private init?(plain text: String) {
    let parts = text.utf8.dropLast().split(separator: UInt8(ascii: ","))
    guard parts.count == 3 || parts.count == 4,
      let sequence = Int(Substring(parts[1].dropFirst(11))),
      let after = Int(Substring(parts[2].dropFirst(8)))
    else { return nil }
    var mark = LogMark(
      room: String(Substring(parts[0].dropFirst(9).dropLast())), sequence: sequence, after: after)
    if parts.count == 4 { mark.recording = String(Substring(parts[3].dropFirst(13).dropLast())) }
    guard mark.text == text else { return nil }
    self = mark
  }
}

/// The counter of log sequences. May be used from any thread.
final class LogSequence: Sendable {
  private let value = Atomic<Int>(0)

  /// Returns the next log sequence.
  func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }

  /// The newest log sequence; 0 if there is none.
  var newest: Int { value.load(ordering: .relaxed) }

  /// Ensures that all later log sequences are larger than `sequence`.
  func advance(past sequence: Int) { _ = value.max(sequence, ordering: .relaxed) }
}
