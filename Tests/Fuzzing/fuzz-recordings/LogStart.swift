import LiveEvents
import RateLimiting
import Synchronization

@testable import Recordings

/// The part of a daemon's start that reads the write-ahead log.
struct LogStart {
  static let directory = "/recordings.log"

  let contents: LogContents
  /// The steps of each segment, by the segment's number.
  let segments: [Int: Reading]
  /// Whether the start reports a loss beyond the unfinished write at the end of the last run.
  let tells: Bool
  private let session: LogSession

  init(on directory: SegmentDirectory) throws(RecordingError) {
    var settings = RecordingSettings()
    settings.disk = directory.disk
    let problems = Problems()
    session = LogSession(
      directory: Self.directory, settings: settings, progress: RecoveryProgress(),
      index: RecordingIndex(),
      onProblem: { problems.add($0) })
    contents = try session.recover()
    tells = problems.all.contains { !$0.contains(": cutting off ") }
    var segments: [Int: Reading] = [:]
    for files in contents.segments {
      let name = files.segments[0].path.split(separator: "/").last ?? ""
      guard let number = RecordingFiles.number(of: String(name)) else { continue }
      segments[number] = try Reading(files)
    }
    self.segments = segments
  }

  /// Whether another start gives the same result.
  func finds(asMuchAs other: LogStart) -> Bool {
    contents.rooms == other.contents.rooms
      && contents.newest == other.contents.newest
      && contents.losses == other.contents.losses
      && segments.mapValues(\.steps) == other.segments.mapValues(\.steps)
  }

  /// Whether another start again returns everything that this start returned and rooms may still
  /// need.
  func isKept(in other: LogStart) -> Bool {
    let first = contents.rooms.values.map(\.firstSegment).min() ?? .max
    return segments.allSatisfy { number, reading in
      number < first || other.segments[number]?.steps == reading.steps
    }
  }

  /// Logs a batch of a room. Returns its log sequence, or nil if the numbers are exhausted.
  func log(_ room: String) -> Int? {
    guard contents.newest < EventLimits.total.upperBound else { return nil }
    let sequence = contents.newest + 1
    var batch = RecordedBatch()
    batch.addMark(
      LogMark(room: room, sequence: sequence, after: contents.rooms[room]?.last ?? 0))
    batch.addFrame(at: .origin, flush: false)
    batch.whenSynced {}
    session.begin(1, of: room, status: RecorderStatus()) {
      fatalError("a batch after a start can be logged")
    }
    _ = session.append(batch, of: 1, copy: nil, now: 1)
    session.commit(now: 1)
    return sequence
  }
}

/// The problems that a start reported.
private final class Problems: Sendable {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }
  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
