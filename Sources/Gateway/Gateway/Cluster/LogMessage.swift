import BatchDelivery
package import JSON
import LiveEvents
package import WireFormats

/// A message of the log: a batch of one room, with its position.
///
/// Its first line is a `position`, the others are native events. The position is that of the sender's batch, or one
/// that the gateway gave; it lets the reader of the log tell what was sent twice, however long ago.
package struct LogMessage: Equatable, Sendable {
  package var position: BatchPosition
  /// Native lines, each with its end.
  package var lines: [UInt8]

  package init(position: BatchPosition, lines: [UInt8]) {
    (self.position, self.lines) = (position, lines)
  }

  /// The longest that a message is made from batches without a position.
  package static let fullMessage = 64 << 10
  /// Servers take a mebibyte, unless they are told otherwise.
  package static let maximumBytes = (1 << 20) - (4 << 10)

  package var bytes: [UInt8] {
    let source = position.source.description
    return BatchLine.position(session: source, sequence: position.sequence) + [0x0A] + lines
  }

  /// Reads a message; `nil` for other bytes.
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

  /// The sequence under which the log has a message; `nil` if the servers refused it. A refusal has a sequence
  /// as well, which is 0.
  package static func sequence(of reply: JSONValue) -> UInt64? {
    guard reply["error"] == nil, let sequence = reply["seq"]?.integerValue, sequence > 0 else {
      return nil
    }
    return UInt64(sequence)
  }

  /// The lines in batches that a daemon takes, cut where each has been long enough. The same for the same message.
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

  /// Well below what a daemon takes as one batch.
  private static let partBytes = 32 << 10
}
