import SimulatedDisk

@testable import Recordings

/// A directory of segments on its own disk in memory.
struct SegmentDirectory {
  let disk = SimulatedDisk()
  private let path: String
  private let count: Int

  /// - Parameter segments: the bytes of each segment, in order, or nil for a missing file.
  init(_ path: String, _ segments: [[UInt8]?]) throws(RecordingError) {
    (self.path, count) = (path, segments.count)
    try Directories.create(path, on: disk)
    for (index, bytes) in segments.enumerated() {
      guard let bytes else { continue }
      var file = try OutputFile(creating: file(index), on: disk)
      try file.write(bytes)
    }
  }

  private func file(_ index: Int) -> String { RecordingFiles.path(of: index + 1, in: path) }

  /// The current bytes of the segments.
  var segments: [[UInt8]?] { (0..<count).map { disk.contents(of: file($0)) } }

  /// Returns all segments as unexamined files, or only the first bytes of each segment up to
  /// `limits`.
  func files(of recording: String, upTo limits: [Int]? = nil) -> RecordingFiles {
    let segments = segments.enumerated().compactMap { index, bytes in
      bytes.map { segment(index + 1, index, bytes: limits?[index] ?? $0.count, isExamined: false) }
    }
    // The values that a start without a catalogue uses.
    return RecordingFiles(
      name: recording, room: "", segments: segments, disk: disk,
      lastNumber: segments.last?.number ?? 1)
  }

  /// Returns the start of one segment of the log. The log's segments are read separately.
  func files(ofSegment index: Int, upTo bytes: Int) -> RecordingFiles {
    RecordingFiles(
      name: "log", room: "", segments: [segment(1, index, bytes: bytes, isExamined: true)],
      disk: disk)
  }

  private func segment(
    _ number: Int, _ index: Int, bytes: Int, isExamined: Bool
  ) -> RecordingFiles.Segment {
    RecordingFiles.Segment(
      number: number, path: file(index), bytes: bytes, last: nil, isShortened: false,
      isExamined: isExamined)
  }
}
