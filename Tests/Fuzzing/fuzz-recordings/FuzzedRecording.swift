@testable import Recordings

/// The recording that the parsers read.
enum FuzzedRecording {
  static let name = "fuzz-20261122T000000Z"
  /// Of all recordings.
  static let root = "/recordings"
  static let directory = "\(root)/\(name)"
  /// The first line that its recorder writes.
  static let header = SegmentHeader(name: name, room: "fuzz", segment: 1, startedAt: 0)
}
