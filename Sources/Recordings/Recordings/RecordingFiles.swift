import Glibc

/// Where the files of a recording are, and what they are called.
package struct RecordingFiles: Sendable, Equatable {
  package struct Segment: Sendable, Equatable {
    package let number: Int
    package let path: String
    package let bytes: Int
    /// The room's time at its last step, in nanoseconds; `nil` if it has none or is still written.
    package let last: Int64?
  }

  package let name: String
  package let room: String
  package let segments: [Segment]

  /// Size of all segments.
  package var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  static func path(of segment: Int, in directory: String) -> String {
    "\(directory)/\(name(of: segment))"
  }

  private static func name(of segment: Int) -> String { "\(padded(segment, 6)).ndjson" }

  /// The number of the segment in a file of this name; `nil` if it is none.
  static func number(of file: String) -> Int? {
    guard file.hasSuffix(".ndjson"), let number = Int(file.dropLast(7)), number > 0,
      file == name(of: number)
    else { return nil }
    return number
  }

  /// The row of a segment as its file is now.
  static func row(
    _ recording: String, _ number: Int, _ path: String, _ contents: SegmentContents,
    crc32: String?, isDamaged: Bool = false
  ) throws(RecordingError) -> SegmentRow {
    let state = try InputFile.state(of: path)
    return SegmentRow(
      recording: recording, number: number, bytes: state.bytes, modified: state.modified,
      events: contents.events, frames: contents.frames, firstAt: contents.first,
      lastAt: contents.last, crc32: crc32, isDamaged: isDamaged)
  }
}
