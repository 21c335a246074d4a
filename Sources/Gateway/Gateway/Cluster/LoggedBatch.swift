import Ingest
package import LiveEvents
package import WireFormats

/// The events of one delivery, divided into messages of the log.
package struct LoggedBatch: Equatable, Sendable {
  /// The native lines of each message, with their line ends.
  package private(set) var messages: [[UInt8]] = []
  /// The number of events that no message contains because they exceed the maximum length of a line
  /// or a batch.
  package private(set) var tooLong = 0

  /// - Parameter position: if it is not `nil`, all events are in one message, so that the log
  ///   contains the batch completely or not at all.
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
