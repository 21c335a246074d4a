import FileSystem
import Wording

/// The write-ahead log as earlier runs left it, read once from beginning to end.
package struct LogContents: Sendable {
  package struct Room: Sendable, Equatable {
    /// The newest opening of the room; `nil` if the log no longer contains it.
    package var opened: Opening?
    /// The log sequence of the newest batch that closed the room permanently.
    package var closed: Int?
    /// The log sequence of the newest batch.
    package var last: Int
    /// The number of the first segment with a batch of the room.
    let firstSegment: Int

    package struct Opening: Sendable, Equatable {
      /// The log sequence of the first batch.
      package let sequence: Int
      /// Milliseconds since 1970.
      package let time: Int
    }

    /// Whether the room has a batch after its last closing.
    package var isOpen: Bool { closed.map { last > $0 } ?? true }
  }

  package private(set) var rooms: [String: Room] = [:]
  /// The room, the newest batch and the segments of each recording, by the name of the recording.
  private(set) var recordings: [String: (room: String, last: Int, segments: ClosedRange<Int>)] =
    [:]
  /// The segments, as far as they are readable.
  package private(set) var segments: [RecordingFiles] = []
  /// The numbers of the segments.
  private(set) var numbers: [Int] = []
  /// For each segment, the newest log sequence in it and in earlier ones.
  private(set) var newestBatches: [Int] = []
  /// The newest log sequence.
  package private(set) var newest = 0
  /// Messages about everything that is wrong with the log.
  private(set) var problems: [String] = []
  /// The problems that are reported even if no room turns out to lack anything.
  package private(set) var losses: [String] = []
  /// The end of the last segment; `nil` if it is not closed.
  private(set) var end: LineChain?
  private var lastNumber: Int?
  private var isLastDamaged = false
  /// The room of the newest mark.
  private var lastMarked: String?
  /// When the log began, in milliseconds since 1970; 0 if unknown.
  private(set) var startedAt: Int
  /// Whether ``startedAt`` comes from the file beside the log.
  private let isKnown: Bool
  private let newestSegment: Int
  private let disk: any Disk

  init(newest: NewestSegment, disk: any Disk) {
    (startedAt, isKnown) = (newest.startedAt, newest.startedAt != 0)
    (newestSegment, self.disk) = (newest.number, disk)
    if newest.isSpoiled {
      problems.append("the file beside the log that names its newest segment is damaged")
    }
  }

  /// The size of the readable segments in bytes.
  package var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  /// Reads the next segment. If it was not closed, because the program ended or the disk failed,
  /// its incomplete end is cut off and it is closed.
  mutating func read(_ number: Int, at path: String, isLast: Bool) throws(RecordingError) {
    let size = try InputFile.state(of: path, on: disk).bytes
    let reader = try SegmentReader(path: path, on: disk, decodes: false)
    var steps: [RecordedStep] = []
    while try reader.read(into: &steps) {
      if let header = reader.scan.header, let problem = misplacement(of: header, at: number) {
        lose("\(path) is left out: \(problem)", isLoss: number <= newestSegment)
        return leaveOut(number)
      }
      for step in steps { if let mark = LogMark(step) { add(mark, number) } }
      steps.removeAll(keepingCapacity: true)
    }
    let scan = reader.scan
    // After damage, the end of the previous segment is unknown.
    let previous = isLastDamaged ? nil : scan.header?.previous
    // A chained segment that has lost its first line is damaged, not an unchained one.
    let isCutShort =
      scan.chain == nil || scan.goodBytes < scan.syncedBytes
      || (scan.end != nil && scan.goodBytes < size)
    let isDamaged =
      isCutShort
      || (lastNumber != nil && (lastNumber != number - 1 || (previous ?? end?.text) != end?.text))
    // The previous segment has lost its last lines, and perhaps the end of a batch. It may look
    // like one that was not closed.
    if lastNumber == number - 1, let previous, previous != end?.text {
      segments[segments.count - 1].markShortened()
    }
    if isDamaged {
      problems.append(
        "the write-ahead log is damaged in segment \(number): rooms are restored as they were before the damage, or from a later snapshot"
      )
    }
    numbers.append(number)
    newestBatches.append(newest)
    segments.append(
      RecordingFiles(
        name: "log", room: "",
        segments: [
          RecordingFiles.Segment(
            number: 1, path: path, bytes: scan.goodBytes, last: nil, isShortened: isCutShort)
        ], disk: disk))
    (lastNumber, isLastDamaged) = (number, isDamaged)
    end = scan.end == nil ? nil : scan.chain
    guard !isDamaged, isLast || scan.end == nil else { return }
    if scan.end == nil { reportCut(scan, size - scan.goodBytes) }
    close(scan, path)
  }

  /// Returns why a segment does not belong here; `nil` if it does.
  private mutating func misplacement(of header: SegmentHeader, at number: Int) -> String? {
    if header.segment != number { return "its header names segment \(header.segment)" }
    // Earlier versions did not write when the log began.
    guard header.startedAt != 0 else { return nil }
    if isKnown, header.startedAt != startedAt { return "it belongs to another log" }
    startedAt = header.startedAt
    return nil
  }

  /// Skips a segment that cannot be read.
  mutating func skip(_ number: Int, at path: String, because error: RecordingError) {
    lose(
      "\(error): rooms are restored without the batches in it; make the file readable and restart livehostd"
    )
    leaveOut(number)
  }

  private mutating func leaveOut(_ number: Int) {
    (lastNumber, isLastDamaged, end) = (number, true, nil)
  }

  /// Records that the newest segment is missing or empty.
  mutating func addMissing(_ number: Int, in directory: String) {
    lose(
      "segment \(number) of the log in \(directory) is missing or empty: rooms are restored without the batches in it"
    )
    leaveOut(number)
  }

  private mutating func lose(_ text: String, isLoss: Bool = true) {
    problems.append(text)
    if isLoss { losses.append(text) }
  }

  private mutating func add(_ mark: LogMark, _ segment: Int) {
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

  /// Reports the bytes that are cut off. Whether they were synced is unknown: the newest synced
  /// lines have no `segmentSynced` line yet.
  private mutating func reportCut(_ scan: SegmentScan, _ bytes: Int) {
    guard bytes > 0, let chain = scan.chain, let number = lastNumber else { return }
    var rooms = Set(scan.roomsOfBadLines.compactMap(\.self))
    // The first line is not a mark, so it belongs to the last room.
    if scan.roomsOfBadLines.first == .some(nil), let lastMarked { rooms.insert(lastMarked) }
    let whose = rooms.isEmpty ? "" : ", of \(rooms.sorted().joined(separator: ", "))"
    problems.append(
      "the write-ahead log: cutting off \(Format.count(bytes, "byte")) after line \(chain.number) in segment "
        + "\(number)\(whose), which may not have been synced when the program ended")
  }

  /// Closes or syncs the last segment, since later segments rely on it. The segment was being
  /// written when the program ended or the disk failed.
  private mutating func close(_ scan: SegmentScan, _ path: String) {
    guard let chain = scan.chain else { return }
    do throws(RecordingError) {
      let last = SegmentEnd(events: scan.contents.events, frames: scan.contents.frames)
      end = try SegmentClosing.close(
        path, syncedBytes: scan.syncedBytes, at: scan.goodBytes, chain,
        with: scan.end == nil ? last : nil, on: disk)
    } catch {
      // The next segment will not name this one as its predecessor.
      problems.append("\(error)")
    }
  }
}
