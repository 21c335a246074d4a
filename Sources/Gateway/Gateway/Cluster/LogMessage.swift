import BatchDelivery
package import JSON
import LiveEvents
package import WireFormats

/// A message of the replicated log: a batch of one room, with its position.
///
/// The first line is a `position`, the others are native events. The position is assigned by the
/// sender of the batch, or else by the gateway. Readers of the log recognise repetitions by the
/// position, however old they are.
package struct LogMessage: Equatable, Sendable {
  package var position: BatchPosition
  package var lines: [UInt8]

  package init(position: BatchPosition, lines: [UInt8]) {
    (self.position, self.lines) = (position, lines)
  }

  /// The size in bytes at which no more batches are added to a message; a later batch without a
  /// position begins a new message.
  package static let fullMessage = 64 << 10
  /// The maximum size in bytes, which is 4 KiB less than the 1 MiB that servers accept by default.
  package static let maximumBytes = (1 << 20) - (4 << 10)

  package var bytes: [UInt8] {
    let source = position.source.description
    return BatchLine.position(session: source, sequence: position.sequence) + [0x0A] + lines
  }

  /// Reads a message; fails if the bytes are not a message.
  package init?(bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
    guard let head = try? JSONValue(parsing: Array(bytes[..<end])),
      head["type"]?.stringValue == "position", let source = head["source"]?.stringValue,
      let sequence = head["sequence"]?.integerValue
    else { return nil }
    self.init(
      position: BatchPosition(source: Text(source), sequence: Int(clamping: sequence)),
      lines: Array(bytes[(end + 1)...]))
  }

  /// Returns the sequence that the log assigned to a stored message; `nil` if the servers refused
  /// the message. A refusal contains the sequence 0.
  package static func sequence(of reply: JSONValue) -> UInt64? {
    guard reply["error"] == nil, let sequence = reply["seq"]?.integerValue, sequence > 0 else {
      return nil
    }
    return UInt64(sequence)
  }

  /// The lines, split into batches that are short enough for a daemon. The same message is always
  /// split into the same parts.
  package var parts: [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = lines.startIndex
    while start < lines.endIndex {
      var end = start
      while end < lines.endIndex, end - start < Self.partBytes {
        end = (lines[end...].firstIndex(of: 0x0A) ?? lines.endIndex - 1) + 1
      }
      parts.append(lines[start..<end])
      start = end
    }
    return parts
  }

  /// The size in bytes at which a part ends, well below the longest batch that a daemon accepts.
  private static let partBytes = 32 << 10
}
