import FuzzSupport
import LiveEvents

@testable import Recordings

/// Recovers recordings as a start without a catalogue does, and checks what is true of every recovery.
final class Recovering {
  /// What a start finds, by the catalogue that it makes and by a reader.
  struct Found {
    let summary: RecordingSummary
    let reading: Reading
    /// What the recovery left of each segment.
    let segments: [[UInt8]?]
  }

  /// One for all inputs, emptied before each start: to open one takes longer than a recovery.
  private let catalogue: Catalogue

  init() throws {
    catalogue = try Catalogue(path: ":memory:") { fatalError("the catalogue works: \($0)") }
  }

  /// - Parameters:
  ///   - segments: as they are found; `nil` if there is no such file.
  ///   - isByRecorder: whether each line with a valid checksum may be one that a recorder wrote: a recovery does not
  ///     look into those.
  /// - Returns: `nil` if there is no recording.
  func recover(_ segments: [[UInt8]?], isByRecorder: Bool = true) throws(RecordingError) -> Found? {
    let directory = try SegmentDirectory(FuzzedRecording.directory, segments)
    let first = try start(on: directory)
    let kept = directory.segments
    for (bytes, kept) in zip(segments, kept) {
      check("a segment is only cut at its end, and closed", Self.isClosing(bytes ?? [], kept ?? []))
    }
    let found = try first.summary.map { summary throws(RecordingError) in
      let files = try first.store.files(of: summary.name)
      return Found(summary: summary, reading: try Reading(files), segments: kept)
    }
    if isByRecorder, let found { checkSteps(of: found) }
    // Where the first one changed nothing, the second one does the same.
    guard kept != segments else { return found }
    let again = try start(on: directory).summary
    check("a second recovery changes no segment", kept == directory.segments)
    check("a second recovery finds as much", found?.summary.events == again?.events)
    check(
      "an intact recording is found as it was",
      found?.summary.state == .damaged || found?.summary == again)
    return found
  }

  /// What is in the catalogue after a start.
  private func start(
    on directory: SegmentDirectory
  ) throws(RecordingError) -> (store: RecordingStore, summary: RecordingSummary?) {
    try catalogue.remove(FuzzedRecording.name)
    var settings = RecordingSettings()
    settings.disk = directory.disk
    let index = RecordingIndex()
    let store = RecordingStore(
      directory: FuzzedRecording.root, logDirectory: "", settings: settings,
      progress: RecoveryProgress(), index: index, catalogue: catalogue, onProblem: { _ in })
    _ = try store.catalogue()
    return (store, index.page(room: nil, before: nil, limit: .max)?.recordings.first)
  }

  /// Whether a recovery may make `kept` of `bytes`: it cuts off a part of the end, and may write a last line.
  private static func isClosing(_ bytes: [UInt8], _ kept: [UInt8]) -> Bool {
    if bytes.starts(with: kept) { return true }
    let end = (kept.dropLast().lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
    return bytes.starts(with: kept[..<end])
      && kept[end...].starts(with: #"{"type":"segmentEnd","#.utf8)
  }

  private func checkSteps(of found: Found) {
    let events = found.reading.steps.count { if case .event = $0 { true } else { false } }
    let frames = found.reading.steps.count { if case .frame = $0 { true } else { false } }
    let summary = found.summary
    // It gives out nothing of a segment of another recording, or of another place.
    let isAll = events == summary.events && frames == summary.frames
    let isPart = events <= summary.events && frames <= summary.frames
    check("a reader finds what was recovered", summary.state == .damaged ? isPart : isAll)
  }
}
