import FuzzSupport
import LiveEvents

@testable import Recordings

/// Recovers recordings as a start without a catalogue does, and checks rules that hold for every
/// recovery.
final class Recovering {
  /// The result of a start, according to its new catalogue and to a reader.
  struct Found {
    let summary: RecordingSummary
    let reading: Reading
    /// The segments after the recovery.
    let segments: [[UInt8]?]
  }

  /// A catalogue for all inputs, emptied before each start. Opening a catalogue takes longer than a
  /// recovery.
  private let catalogue: Catalogue

  init() throws {
    catalogue = try Catalogue(path: ":memory:") { fatalError("the catalogue works: \($0)") }
  }

  /// - Parameters:
  ///   - segments: the bytes of each segment, or nil for a missing file.
  ///   - isByRecorder: whether lines with a valid checksum can come from a recorder. A recovery
  /// does
  ///     not parse such lines.
  /// - Returns: the result, or nil if there is no recording.
  func recover(_ segments: [[UInt8]?], isByRecorder: Bool = true) throws(RecordingError) -> Found? {
    let directory = try SegmentDirectory(FuzzedRecording.directory, segments)
    let first = try start(on: directory)
    let kept = directory.segments
    for (bytes, kept) in zip(segments, kept) {
      check("a segment is only truncated and closed", Self.isClosing(bytes ?? [], kept ?? []))
    }
    let found = try first.summary.map { summary throws(RecordingError) in
      let files = try first.store.files(of: summary.name)
      return Found(summary: summary, reading: try Reading(files), segments: kept)
    }
    if isByRecorder, let found { checkSteps(of: found) }
    // If the first recovery changed nothing, a second recovery has the same input.
    guard kept != segments else { return found }
    let again = try start(on: directory).summary
    check("a second recovery changes no segment", kept == directory.segments)
    check(
      "a second recovery finds the same number of events", found?.summary.events == again?.events)
    check(
      "a second recovery of an intact recording gives the same summary",
      found?.summary.state == .damaged || found?.summary == again)
    return found
  }

  /// Returns the recording in the catalogue after a start.
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

  /// Whether a recovery may change `bytes` to `kept`: by truncating the end and writing a last
  /// line.
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
    // The reader skips a segment of another recording or with a wrong number.
    let isAll = events == summary.events && frames == summary.frames
    let isPart = events <= summary.events && frames <= summary.frames
    check("a reader finds the recovered events", summary.state == .damaged ? isPart : isAll)
  }
}
