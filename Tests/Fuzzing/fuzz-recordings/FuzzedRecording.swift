@testable import Recordings

/// The recording that the parsers read.
enum FuzzedRecording {
  static let name = "fuzz-20261122T000000Z"
  /// The directory of all recordings.
  static let root = "/recordings"
  static let directory = "\(root)/\(name)"
  /// The first line of the recording.
  static let header = SegmentHeader(name: name, room: "fuzz", segment: 1, startedAt: 0)
}
