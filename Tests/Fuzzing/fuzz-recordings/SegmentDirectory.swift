import SimulatedDisk

@testable import Recordings

/// A directory of segments, the only one on a disk in memory.
struct SegmentDirectory {
  let disk = SimulatedDisk()
  private let path: String
  private let count: Int

  /// - Parameter segments: the bytes of each, in order; `nil` if there is no such file.
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

  /// What the segments are now.
  var segments: [[UInt8]?] { (0..<count).map { disk.contents(of: file($0)) } }

  /// All segments, for reading what nobody has examined, or as much of the beginning of each as `limits` says.
  func files(of recording: String, upTo limits: [Int]? = nil) -> RecordingFiles {
    let segments = segments.enumerated().compactMap { index, bytes in
      bytes.map { segment(index + 1, index, bytes: limits?[index] ?? $0.count, isExamined: false) }
    }
    // As a start without a catalogue knows it.
    return RecordingFiles(
      name: recording, room: "", segments: segments, disk: disk,
      lastNumber: segments.last?.number ?? 1)
  }

  /// The beginning of one segment of the log, whose segments are read one by one.
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
