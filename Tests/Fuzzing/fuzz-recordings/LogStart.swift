import RateLimiting
import Synchronization

@testable import Recordings

/// A start of the daemon, as far as it reads the log of the rooms.
struct LogStart {
  static let directory = "/recordings.log"

  let contents: LogContents
  /// What it gives out of each segment, by number.
  let segments: [Int: Reading]
  /// Whether it says that more is lost than what was being written when the last run ended.
  let tells: Bool
  private let session: LogSession

  init(on directory: SegmentDirectory) throws(RecordingError) {
    var settings = RecordingSettings()
    settings.disk = directory.disk
    let problems = Problems()
    session = LogSession(
      directory: Self.directory, settings: settings, index: RecordingIndex(),
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

  /// Whether another start knows and gives out the same.
  func finds(asMuchAs other: LogStart) -> Bool {
    contents.rooms == other.contents.rooms
      && contents.newestSession == other.contents.newestSession
      && contents.losses == other.contents.losses
      && segments.mapValues(\.steps) == other.segments.mapValues(\.steps)
  }

  /// Whether another start gives out all that rooms may still need of this one.
  func isKept(in other: LogStart) -> Bool {
    let first = contents.rooms.values.map(\.firstSegment).min() ?? .max
    return segments.allSatisfy { number, reading in
      number < first || other.segments[number]?.steps == reading.steps
    }
  }

  /// Logs a batch of a room in a new session. Returns its position; `nil` if there is no number left for a session.
  func log(_ room: String) -> LogPosition? {
    guard contents.newestSession < KeptNumbers.range.upperBound else { return nil }
    let number = contents.newestSession + 1
    let mark = LogMark(room: room, at: LogPosition(session: number, batch: 1))
    var batch = RecordedBatch()
    batch.addMark(mark)
    batch.addFrame(at: .origin, flush: false)
    batch.whenSynced {}
    session.begin(UInt64(number), of: room, status: RecorderStatus()) {
      fatalError("what a room does after a start is logged")
    }
    _ = session.append(batch, to: UInt64(number), now: 1)
    session.commit(now: 1)
    return mark.position
  }
}

/// What a start told.
private final class Problems: Sendable {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }
  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
