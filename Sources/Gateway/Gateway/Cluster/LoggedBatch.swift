import Ingest
package import LiveEvents
package import WireFormats

/// Events of one delivery as the log takes them.
package struct LoggedBatch: Equatable, Sendable {
  /// Native lines, each with its end, for one message each.
  package private(set) var messages: [[UInt8]] = []
  /// Events that are in none of them: no reader takes a line as long, or no server a batch.
  package private(set) var tooLong = 0

  /// - Parameter position: with one all events are in one message, so that their batch is in the log once or not at all.
  package init(_ events: [LiveEvent], position: BatchPosition?, in room: RoomName) {
    var lines: [UInt8] = []
    for event in events {
      let start = lines.count
      NativeEncoder.append(event, room: room, to: &lines)
      if lines.count - start > LineDecoder.maximumLineLength {
        lines.removeLast(lines.count - start)
        tooLong += 1
      }
      if position == nil, lines.count >= LogMessage.fullMessage {
        messages.append(exchange(&lines, with: []))
      }
    }
    if !lines.isEmpty { messages.append(lines) }
    guard let position, let batch = messages.first,
      LogMessage(position: position, lines: batch).bytes.count > LogMessage.maximumBytes
    else { return }
    (messages, tooLong) = ([], events.count)
  }
}
