import BatchDelivery
package import JSON
import LiveEvents
package import WireFormats

/// A message of the replicated log: a batch of one room, with its position.
///
/// The first line is a `position`, the others are native events. The position is the one of the
/// sender's batch, or one that the gateway assigned. By it the reader of the log recognises
/// repeats, however old they are.
package struct LogMessage: Equatable, Sendable {
  package var position: BatchPosition
  /// The native lines, with their line ends.
  package var lines: [UInt8]

  package init(position: BatchPosition, lines: [UInt8]) {
    (self.position, self.lines) = (position, lines)
  }

  /// The size in bytes at which batches without a position are cut into the next message.
  package static let fullMessage = 64 << 10
  /// The maximum size in bytes: 4 KiB less than the mebibyte that servers accept by default.
  package static let maximumBytes = (1 << 20) - (4 << 10)

  package var bytes: [UInt8] {
    let source = position.source.description
    return BatchLine.position(session: source, sequence: position.sequence) + [0x0A] + lines
  }

  /// Reads a message; `nil` if the bytes are not a message.
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

  /// Returns the sequence under which the log stored a message; `nil` if the servers refused it. A
  /// refusal has a sequence, too, which is 0.
  package static func sequence(of reply: JSONValue) -> UInt64? {
    guard reply["error"] == nil, let sequence = reply["seq"]?.integerValue, sequence > 0 else {
      return nil
    }
    return UInt64(sequence)
  }

  /// The lines in batches that a daemon accepts, each cut once it is long enough. The same message
  /// always has the same parts.
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

  /// The size in bytes at which a part is cut, well below the longest batch that a daemon accepts.
  private static let partBytes = 32 << 10
}
