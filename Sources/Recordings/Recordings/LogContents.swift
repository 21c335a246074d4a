import FileSystem
import JSON
import WireFormats
import Wording

/// What earlier runs left in the log that all rooms share, read once from beginning to end.
package struct LogContents: Sendable {
  package struct Room: Sendable, Equatable {
    /// The batch with which the newest life of the room begins, and when, in milliseconds since
    /// 1970; `nil` if that is not in the log any more.
    package var opened: Opening?
    /// The newest batch with which the room was closed for good.
    package var closed: Int?
    /// The newest batch.
    package var last: Int
    /// The number of the first segment with something of the room.
    let firstSegment: Int

    package struct Opening: Sendable, Equatable {
      package let sequence: Int
      package let time: Int
    }

    /// Whether it was not closed for good, as far as the log knows.
    package var isOpen: Bool { closed.map { last > $0 } ?? true }
  }

  package private(set) var rooms: [String: Room] = [:]
  /// Where the log has batches that are copied into recordings, by their names.
  private(set) var recordings: [String: (room: String, last: Int, segments: ClosedRange<Int>)] =
    [:]
  /// The segments as far as they can be read.
  package private(set) var segments: [RecordingFiles] = []
  private(set) var numbers: [Int] = []
  /// The newest batch in each of them or before.
  private(set) var newestBatches: [Int] = []
  /// The newest batch of all rooms.
  package private(set) var newest = 0
  /// What is wrong with it.
  private(set) var problems: [String] = []
  /// What of that people have to know even if no room turns out to lack anything.
  package private(set) var losses: [String] = []
  /// The end of the last segment, if it is closed.
  private(set) var end: LineChain?
  private var lastNumber: Int?
  private var isLastDamaged = false
  /// The room of the newest mark.
  private var lastMarked: String?
  /// When the log began; 0 if none of its segments says.
  private(set) var startedAt: Int
  /// Whether that is known but by the segments.
  private let isKnown: Bool
  private let newestSegment: Int
  private let disk: any Disk

  init(newest: NewestSegment, disk: any Disk) {
    (startedAt, isKnown) = (newest.startedAt, newest.startedAt != 0)
    (newestSegment, self.disk) = (newest.number, disk)
    if newest.isSpoiled {
      problems.append("the file that names the newest segment of the write-ahead log is damaged")
    }
  }

  package var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  /// Reads the next segment. One that was not closed is closed now: what was being written when the
  /// program ended, or the disk failed, is cut off.
  mutating func read(_ number: Int, at path: String, isLast: Bool) throws(RecordingError) {
    let size = try InputFile.state(of: path, on: disk).bytes
    let reader = try SegmentReader(path: path, on: disk, decodes: false)
    var decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)
    var steps: [RecordedStep] = []
    while try reader.read(&decoder, into: &steps) {
      if let header = reader.header, let problem = misplacement(of: header, at: number) {
        lose("\(path) is ignored: \(problem)", isLoss: number <= newestSegment)
        return leaveOut(number)
      }
      for step in steps { if let mark = LogMark(step) { note(mark, number) } }
      steps.removeAll(keepingCapacity: true)
    }
    // Behind damage there is nothing to continue.
    let previous = isLastDamaged ? nil : reader.header?.previous
    // Without its first line it looks like a segment of a version that had no log.
    let isCutShort =
      reader.chain == nil || reader.goodBytes == 0 || reader.goodBytes < reader.syncedBytes
      || (reader.end != nil && reader.goodBytes < size)
    let isDamaged =
      isCutShort
      || (lastNumber != nil && (lastNumber != number - 1 || (previous ?? end?.text) != end?.text))
    // The one before has lost its last lines, and perhaps the rest of a batch: it may end as one
    // that was killed.
    if lastNumber == number - 1, let previous, previous != end?.text {
      segments[segments.count - 1].noteShortened()
    }
    if isDamaged {
      problems.append(
        "the write-ahead log is damaged in segment \(number): rooms are restored to the state before the damage, or to a later snapshot"
      )
    }
    numbers.append(number)
    newestBatches.append(newest)
    segments.append(
      RecordingFiles(
        name: "log", room: "",
        segments: [
          RecordingFiles.Segment(
            number: 1, path: path, bytes: reader.goodBytes, last: nil, isShortened: isCutShort)
        ], disk: disk))
    (lastNumber, isLastDamaged) = (number, isDamaged)
    end = reader.end == nil ? nil : reader.chain
    guard !isDamaged, isLast || reader.end == nil else { return }
    if reader.end == nil { tellCut(reader, size - reader.goodBytes) }
    close(reader, path)
  }

  /// Why a segment does not belong where it is.
  private mutating func misplacement(of header: SegmentHeader, at number: Int) -> String? {
    if header.segment != number { return "its header names segment \(header.segment)" }
    // Logs of earlier versions do not say when they began.
    guard header.startedAt != 0 else { return nil }
    if isKnown, header.startedAt != startedAt { return "it belongs to another log" }
    startedAt = header.startedAt
    return nil
  }

  /// Leaves out a segment that cannot be read.
  mutating func skip(_ number: Int, at path: String, because error: RecordingError) {
    lose(
      "\(error): rooms are restored without the changes in this segment; make it readable and start livehostd again"
    )
    leaveOut(number)
  }

  private mutating func leaveOut(_ number: Int) {
    (lastNumber, isLastDamaged, end) = (number, true, nil)
  }

  /// Notes that the newest segment is gone, or empty.
  mutating func noteMissing(_ number: Int, in directory: String) {
    lose(
      "segment \(number) of the log in \(directory) is missing or incomplete: rooms are restored without the changes in this segment"
    )
    leaveOut(number)
  }

  private mutating func lose(_ text: String, isLoss: Bool = true) {
    problems.append(text)
    if isLoss { losses.append(text) }
  }

  private mutating func note(_ mark: LogMark, _ segment: Int) {
    newest = max(newest, mark.sequence)
    lastMarked = mark.room
    var room = rooms[mark.room] ?? Room(last: mark.sequence, firstSegment: segment)
    room.last = max(room.last, mark.sequence)
    if let time = mark.opened, mark.sequence > room.opened?.sequence ?? 0 {
      room.opened = Room.Opening(sequence: mark.sequence, time: time)
    }
    if mark.closed == true { room.closed = max(room.closed ?? 0, mark.sequence) }
    rooms[mark.room] = room
    guard let name = mark.recording else { return }
    let known = recordings[name]
    recordings[name] = (
      known?.room ?? mark.room, max(known?.last ?? 0, mark.sequence),
      (known?.segments.lowerBound ?? segment)...segment
    )
  }

  /// Tells what is cut off. Nothing shows whether it was ever synced: the newest lines that were
  /// are not marked yet.
  private mutating func tellCut(_ reader: SegmentReader, _ bytes: Int) {
    guard bytes > 0, let chain = reader.chain, let number = lastNumber else { return }
    var rooms = Set(reader.roomsOfBadLines.compactMap(\.self))
    // A line that is not a mark follows the last one.
    if reader.roomsOfBadLines.first == .some(nil), let lastMarked { rooms.insert(lastMarked) }
    let whose = rooms.isEmpty ? "" : ", of \(rooms.sorted().joined(separator: ", "))"
    problems.append(
      "the write-ahead log: cutting off \(Format.count(bytes, "byte")) after line \(chain.number) in segment "
        + "\(number)\(whose), which may not have been synced when the program ended")
  }

  /// Closes a segment that was being written when the program ended or the disk failed, or syncs
  /// it: what comes next relies on it.
  private mutating func close(_ reader: SegmentReader, _ path: String) {
    guard let chain = reader.chain else { return }
    do throws(RecordingError) {
      let last = SegmentEnd(events: reader.contents.events, frames: reader.contents.frames)
      end = try SegmentClosing.close(
        path, syncedBytes: reader.syncedBytes, at: reader.goodBytes, chain,
        with: reader.end == nil ? last : nil, on: disk)
    } catch {
      // The next segment does not name this one as the one before it.
      problems.append("\(error)")
    }
  }
}
