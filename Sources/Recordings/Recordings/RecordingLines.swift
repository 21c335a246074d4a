import LiveEvents
import WireFormats

/// The events of a recording as lines in the native format, for other programs.
package struct RecordingLines: ~Copyable {
  private var reader: RecordingReader
  private let room: RoomName?
  private var steps: [RecordedStep] = []

  package init(_ files: RecordingFiles) {
    reader = RecordingReader(files)
    room = RoomName(files.room)
  }

  package var bytesRead: Int { reader.bytesRead }

  /// Returns the lines of the next block, possibly none; `nil` at the end.
  ///
  /// - Throws: ``RecordingError/damaged(recording:_:)`` after everything readable in a damaged
  ///   segment was returned.
  package mutating func next() throws(RecordingError) -> (text: String, events: Int)? {
    guard try reader.read(into: &steps) else { return nil }
    var bytes: [UInt8] = []
    var events = 0
    for step in steps {
      guard case .event(let event, _) = step else { continue }
      NativeEncoder.append(event, room: room, to: &bytes)
      events += 1
    }
    steps.removeAll(keepingCapacity: true)
    return (String(decoding: bytes, as: UTF8.self), events)
  }
}
