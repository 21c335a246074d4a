package import FileSystem
import Glibc
import LiveEvents
import Wording

/// The files of a recording: their paths, numbers and sizes.
package struct RecordingFiles: Sendable {
  package struct Segment: Sendable {
    package let number: Int
    package let path: String
    package let bytes: Int
    /// The room's time at the last step, in nanoseconds; `nil` if the segment has no steps or is
    /// being written.
    package let last: Int64?
    /// Whether the file is smaller than when it was closed.
    package fileprivate(set) var isShortened: Bool
    /// Whether the catalogue contains the segment.
    var isListed = true
    /// Whether a recovery has examined this file and listed it in the catalogue. If so, a different
    /// name in its header is accepted, because the directory of a recording may be renamed.
    var isExamined = true
  }

  package let name: String
  package let room: String
  package private(set) var segments: [Segment]
  /// The disk with the files.
  package let disk: any Disk
  /// The number of the last segment; 0 if unknown.
  var lastNumber = 0
  /// Protects the files from being deleted.
  var use: RecordingUse?

  /// The same files, without protection from being deleted.
  package var withoutUse: RecordingFiles {
    var files = self
    files.use = nil
    return files
  }

  /// Records that the last segment has lost lines at its end.
  mutating func markShortened() { segments[segments.count - 1].isShortened = true }

  /// The size of all segments in bytes.
  package var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  static func path(of segment: Int, in directory: String) -> String {
    "\(directory)/\(name(of: segment))"
  }

  private static func name(of segment: Int) -> String { "\(Format.padded(segment, 6)).ndjson" }

  /// Returns the number of the segment with this file name; `nil` for any other name.
  static func number(of file: String) -> Int? {
    guard file.hasSuffix(".ndjson"), let number = Int(file.dropLast(7)), number > 0,
      EventLimits.total.contains(number), file == name(of: number)
    else { return nil }
    return number
  }

  /// A segment in the directory of a recording.
  struct Entry {
    let number: Int
    let path: String
    let state: FileState
    /// Why the segment is not a readable file. In this case, ``state`` describes an empty file.
    let problem: RecordingError?
  }

  /// Returns the segments in a directory, in ascending order of their numbers.
  static func entries(in directory: String, on disk: any Disk) throws(RecordingError) -> [Entry] {
    var entries: [Entry] = []
    for number in try Directories.names(in: directory, on: disk).compactMap(number).sorted() {
      let path = path(of: number, in: directory)
      let (state, problem) = try InputFile.state(ofSegment: path, on: disk)
      entries.append(Entry(number: number, path: path, state: state, problem: problem))
    }
    return entries
  }

  /// Returns the catalogue row of a segment, with the current state of its file.
  static func row(
    _ recording: String, _ number: Int, _ path: String, _ contents: SegmentContents,
    chain: LineChain?, previous: String?, isDamaged: Bool = false, on disk: any Disk
  ) throws(RecordingError) -> SegmentRow {
    let state = try InputFile.state(of: path, on: disk)
    return SegmentRow(
      recording: recording, number: number, bytes: state.bytes, modified: state.modified,
      events: contents.events, frames: contents.frames, firstAt: contents.first,
      lastAt: contents.last, previous: previous, lastLine: chain?.number,
      lastChecksum: chain.map { Int64($0.checksum) }, isDamaged: isDamaged)
  }
}

/// Names recordings after their room and the time at which they began.
enum RecordingName {
  /// Returns a name such as `main-20261121T131757Z`.
  ///
  /// - Parameter startedAt: milliseconds since 1970.
  static func make(room: String, startedAt: Int) -> String {
    var seconds = time_t(startedAt / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let day = [parts.tm_mon + 1, parts.tm_mday].map { Format.padded($0, 2) }.joined()
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Format.padded($0, 2) }.joined()
    return "\(room)-\(Format.padded(parts.tm_year + 1_900, 4))\(day)T\(time)Z"
  }

  /// Returns the room in the name of a recording.
  static func room(_ name: String) -> String {
    name.lastIndex(of: "-").map { String(name[..<$0]) } ?? name
  }

  /// Returns the start time in the name of a recording, in milliseconds since 1970; 0 if it has
  /// none.
  static func startedAt(_ name: String) -> Int {
    guard let dash = name.lastIndex(of: "-") else { return 0 }
    let text = Array(name[dash...].utf8)
    func number(_ range: Range<Int>) -> Int32? {
      range.upperBound <= text.count
        ? Int32(String(decoding: text[range], as: UTF8.self)) : nil
    }
    guard let year = number(1..<5), let month = number(5..<7), let day = number(7..<9),
      let hour = number(10..<12), let minute = number(12..<14), let second = number(14..<16)
    else { return 0 }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1_900, month - 1, day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    return max(0, Int(timegm(&parts))) * 1_000
  }
}
