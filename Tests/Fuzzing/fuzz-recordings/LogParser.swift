import FuzzSupport

@testable import Recordings

/// Reads a write-ahead log of up to three segments after an ``Accident``, as the next start does.
/// The input has the bytes of the accident and then lines, see ``ChainedLines``. Zero bytes
/// separate the segments.
final class LogParser: Parser {
  private static let header = SegmentHeader(name: "log", room: "", segment: 1, startedAt: 1)

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      let written = ChainedSegments(bytes.dropFirst(Accident.size).separated(), Self.header)
      let segments = Accident(bytes.prefix(Accident.size)).befalling(written.segments)
      let intact = try SegmentDirectory(LogStart.directory, written.segments)
      let found = try SegmentDirectory(LogStart.directory, segments)
      let newest = noteNewest(of: written, on: found)

      let first = try LogStart(on: found)
      for (index, before) in written.segments.enumerated() {
        let whole = try Reading(intact.files(ofSegment: index, upTo: before.count))
        let given = first.segments[index + 1]
        check("the log returns only written steps", given?.isBeginning(of: whole) ?? true)
      }
      for (index, before) in written.segments.enumerated() {
        let change = Changes.start(in: before, segments[index])
        let safe = try Reading(intact.files(ofSegment: index, upTo: change ?? before.count))
        let isGiven = first.segments[index + 1].map(safe.isBeginning) ?? safe.steps.isEmpty
        check(
          "data before the accident is returned, or its loss is reported", isGiven || first.tells)
        if change != nil { break }
      }
      // If another segment follows, rooms may no longer have needed this segment.
      let isNewestGone =
        newest == segments.count - 1 && (segments.last ?? nil).map(Changes.isBare) ?? true
      check("the loss of the newest segment is reported", !isNewestGone || first.tells)
      check(
        "no synced data is cut off",
        !Changes.cutSynced(segments, to: found.segments))
      let second = try LogStart(on: found)
      check("a second start gives the same result", first.finds(asMuchAs: second))
      // The log continues in the next segment, after everything that was found.
      let sequence = second.log("fuzz")
      let third = try LogStart(on: found)
      check(
        "a batch logged after a start is found at the next start",
        sequence == nil || third.contents.rooms["fuzz"]?.last == sequence)
      check("a start keeps the batches that rooms need", second.isKept(in: third))
    } catch {
      fatalError("the log can be read: \(error)")
    }
  }

  /// Writes the index of the newest segment with synced lines to the file next to the log, as the
  /// daemon does. Returns the index.
  private func noteNewest(
    of written: ChainedSegments, on directory: SegmentDirectory
  ) -> Int? {
    let newest = written.segments.indices.last {
      let firstLine = written.segments[$0].firstIndex(of: UInt8(ascii: "\n")) ?? 0
      return written.syncedBytes[$0] > firstLine + 1
    }
    guard let newest else { return nil }
    var note = NewestSegment(of: LogStart.directory, on: directory.disk)
    note.startedAt = Self.header.startedAt
    note.advance(to: newest + 1)
    return newest
  }
}
