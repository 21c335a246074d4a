import LiveEvents
import WireFormats

/// A recording as native events, one per line, for other programs to read.
package struct RecordingLines: ~Copyable {
  private var reader: RecordingReader
  private let room: RoomName?
  private var steps: [RecordedStep] = []

  package init(_ files: RecordingFiles) {
    reader = RecordingReader(files)
    room = RoomName(files.room)
  }

  package var bytesRead: Int { reader.bytesRead }

  /// The lines of the next block; `nil` at the end. A block may have none.
  ///
  /// - Throws: ``RecordingError/damaged(recording:segment:)`` after everything readable in a
  ///   segment.
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
