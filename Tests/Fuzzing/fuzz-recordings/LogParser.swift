import FuzzSupport

@testable import Recordings

/// The log of the rooms in up to three segments, read after an ``Accident`` as at the next start. Behind the bytes that
/// choose the accident come lines, see ``ChainedLines``; zero bytes separate the segments.
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
        check("what the log gives out was written", given?.isBeginning(of: whole) ?? true)
      }
      for (index, before) in written.segments.enumerated() {
        let change = Changes.start(in: before, segments[index])
        let safe = try Reading(intact.files(ofSegment: index, upTo: change ?? before.count))
        let isGiven = first.segments[index + 1].map(safe.isBeginning) ?? safe.steps.isEmpty
        check("what is before an accident is given out, or told", isGiven || first.tells)
        if change != nil { break }
      }
      // Where another one follows, rooms may not have needed it any more.
      let isNewestGone =
        newest == segments.count - 1 && (segments.last ?? nil).map(Changes.isBare) ?? true
      check("the loss of the newest segment is told", !isNewestGone || first.tells)
      check(
        "nothing is cut off that is known to have been synced",
        !Changes.cutSynced(segments, to: found.segments))
      let second = try LogStart(on: found)
      check("a second start finds the same", first.finds(asMuchAs: second))
      // It goes on in the next segment, behind whatever was found.
      let sequence = second.log("fuzz")
      let third = try LogStart(on: found)
      check(
        "what is logged after a start is found at the next",
        sequence == nil || third.contents.rooms["fuzz"]?.last == sequence)
      check("a start keeps what rooms need", second.isKept(in: third))
    } catch {
      fatalError("the log is read: \(error)")
    }
  }

  /// Notes beside the log, as the daemon does, the newest segment with lines that were synced. Returns its index.
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
    note.note(newest + 1)
    return newest
  }
}
