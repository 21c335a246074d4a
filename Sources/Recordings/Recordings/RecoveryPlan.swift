import FileSystem
import LiveEvents

/// The segments of one recording that a recovery has to examine.
struct RecoveryPlan {
  let name: String
  let path: String
  let known: RecordingRow?
  let knownSegments: [SegmentRow]
  var segments: [Segment] = []

  struct Segment {
    let number: Int
    let file: String
    var bytes: Int
    /// The row in the catalogue, if the file has not changed since it was examined.
    var row: SegmentRow?
    /// Why the file cannot be read. In this case, ``row`` describes an empty segment.
    var damage: Damage?
  }

  /// - Parameters:
  ///   - known: the row of the recording in the catalogue.
  ///   - writing: the segment being written, which is not examined.
  ///   - files: the segments in its directory, in ascending order of their numbers.
  init(
    name: String, path: String, known: RecordingRow?, knownSegments: [SegmentRow], writing: Int?,
    files: [RecordingFiles.Entry]
  ) {
    (self.name, self.path, self.known, self.knownSegments) = (name, path, known, knownSegments)
    // The last segment states how the recording ended.
    let isEndKnown = known.map { $0.state != RecordingState.recording.rawValue } ?? false
    for file in files where file.number != writing {
      var row = knownSegments.first { $0.number == file.number }
      if file.problem != nil {
        row =
          row?.missing
          ?? SegmentRow(
            recording: name, number: file.number, bytes: 0, modified: 0, events: 0, frames: 0,
            isDamaged: true)
      } else if row?.isExamined(file.state) != true
        || (!isEndKnown && file.number == files.last?.number)
      {
        row = nil
      }
      segments.append(
        Segment(
          number: file.number, file: file.path, bytes: file.state.bytes, row: row,
          damage: file.problem.map {
            Damage(segment: file.number, .unreadable($0.description))
          }))
    }
    // A damaged recording may have been repaired, which only reading all of it can prove.
    if known?.state == RecordingState.damaged.rawValue,
      hasLostUnreadableFile || segments.contains(where: { $0.row == nil })
    {
      for index in segments.indices where segments[index].damage == nil {
        segments[index].row = nil
      }
    }
  }

  /// The size of the segments that must be read.
  var bytesToRead: Int { segments.reduce(0) { $0 + ($1.row == nil ? $1.bytes : 0) } }

  /// Whether its headers may name another recording, because its directory was renamed. This holds
  /// for the first recovery under the new name, and until one has completed.
  var mayBeRenamed: Bool {
    known == nil || (known?.state == RecordingState.recording.rawValue && !knownSegments.isEmpty)
  }

  /// Returns rows for segments whose files are missing.
  func missing(_ segments: [SegmentRow]) -> [SegmentRow] {
    known(besides: segments.map(\.number)).filter { !$0.isNothing }.map(\.missing)
  }

  /// Whether an unreadable file of an earlier recovery was removed.
  private var hasLostUnreadableFile: Bool {
    known(besides: segments.map(\.number)).contains(where: \.isNothing)
  }

  private func known(besides numbers: [Int]) -> [SegmentRow] {
    let numbers = Set(numbers)
    return knownSegments.filter { !numbers.contains($0.number) }
  }
}
