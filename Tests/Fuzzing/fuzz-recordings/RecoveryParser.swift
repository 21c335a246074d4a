import Foundation
import FuzzSupport
import LiveEvents
import Recordings

/// Segments of a recording, as a program that ended without closing them may have left them, recovered as
/// at the next start. Zero bytes separate the segments.
final class RecoveryParser: Parser {
  private typealias Found = (summary: RecordingSummary, files: RecordingFiles)

  /// Enough for a first, a middle and a last one.
  private static let maximumSegments = 3

  private let directory: URL
  private let recording: URL
  private let catalogue: URL
  /// A catalogue without recordings: to create one takes longer than a recovery.
  private let emptyCatalogue: Data

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("livehost-fuzz-\(getpid())")
    recording = directory.appendingPathComponent("fuzz-20261122T000000Z")
    catalogue = directory.appendingPathComponent("catalogue.sqlite")
    _ = try Self.recover(directory)
    emptyCatalogue = try Data(contentsOf: catalogue)
  }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      try read(bytes.split(separator: 0, maxSplits: Self.maximumSegments - 1))
    } catch {
      fatalError("a recording is recovered: \(error)")
    }
  }

  private func read(_ segments: [Slice<UnsafeBufferPointer<UInt8>>]) throws {
    try? FileManager.default.removeItem(at: recording)
    try FileManager.default.createDirectory(at: recording, withIntermediateDirectories: true)
    for (index, bytes) in segments.enumerated() { try Data(bytes).write(to: file(index)) }
    let found = try recover()
    let kept = segments.indices.map { try? Data(contentsOf: file($0)) }
    for (bytes, kept) in zip(segments, kept) {
      check("a segment is only cut at its end", kept.map { bytes.starts(with: $0) } ?? true)
    }
    if let found { try checkSteps(of: found) }
    let again = try recover()
    check(
      "a second recovery changes no segment",
      kept == segments.indices.map { try? Data(contentsOf: file($0)) })
    check("a second recovery finds as much", found?.summary.events == again?.summary.events)
    check(
      "an intact recording is found as it was",
      found?.summary.state == .damaged || found?.summary == again?.summary)
  }

  private func file(_ index: Int) -> URL {
    recording.appendingPathComponent("00000\(index + 1).ndjson")
  }

  /// What a start without a catalogue finds.
  private func recover() throws -> Found? {
    // Removed, not overwritten: the file of the previous one may still be open.
    try FileManager.default.removeItem(at: catalogue)
    try emptyCatalogue.write(to: catalogue)
    return try Self.recover(directory)
  }

  private static func recover(_ directory: URL) throws -> Found? {
    let library = try RecordingLibrary(directory: directory.path)
    defer { library.close() }
    return try wait {
      guard let summary = try await library.list().first else { return nil }
      return (summary, try await library.files(of: summary.name))
    }
  }

  private func checkSteps(of found: Found) throws {
    var reader = RecordingReader(found.files)
    var steps: [RecordedStep] = []
    while true {
      do { if try !reader.read(into: &steps) { break } } catch {
        // A damaged segment ends with an error; reading continues with the next one.
        guard isDamage(error) else { throw error }
      }
    }
    let events = steps.count { if case .event = $0 { true } else { false } }
    let frames = steps.count { if case .frame = $0 { true } else { false } }
    let summary = found.summary
    // It gives out nothing of a segment of another recording, or of another place.
    let isAll = events == summary.events && frames == summary.frames
    let isPart = events <= summary.events && frames <= summary.frames
    check("a reader finds what was recovered", summary.state == .damaged ? isPart : isAll)
  }

  private func isDamage(_ error: RecordingError) -> Bool {
    if case .damaged = error { true } else { false }
  }
}
