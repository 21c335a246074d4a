import FileSystem
import JSON
import WireFormats

/// What earlier runs left in the log that all rooms share, read once from beginning to end.
package struct LogContents: Sendable {
  package struct Room: Sendable, Equatable {
    /// The session with which the newest life of the room begins, and when, in milliseconds since 1970; `nil` if that
    /// is not in the log any more.
    package var opened: Opening?
    /// The newest session in which the room was closed for good.
    package var closed: Int?
    /// The newest position.
    package var last: LogPosition
    /// The number of the first segment with something of the room.
    let firstSegment: Int

    package struct Opening: Sendable, Equatable {
      package let session: Int
      package let time: Int
    }

    /// Whether it was not closed for good, as far as the log knows.
    package var isOpen: Bool { closed.map { last.session > $0 } ?? true }
  }

  package private(set) var rooms: [String: Room] = [:]
  /// The segments as far as they can be read.
  package private(set) var segments: [RecordingFiles] = []
  /// The newest session of all rooms.
  package private(set) var newestSession = 0
  /// What is wrong with it.
  private(set) var problems: [String] = []
  /// What of that people have to know even if no room turns out to lack anything.
  package private(set) var losses: [String] = []
  /// The end of the last segment, if it is closed.
  private(set) var end: LineChain?
  private var lastNumber: Int?
  private var isLastDamaged = false
  private let disk: any Disk

  init(disk: any Disk) { self.disk = disk }

  package var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  /// Reads the next segment. The last one is closed: what was being written when the program ended is cut off.
  mutating func read(_ number: Int, at path: String, isLast: Bool) throws(RecordingError) {
    let size = try InputFile.state(of: path, on: disk).bytes
    let reader = try SegmentReader(path: path, on: disk, decodes: false)
    var decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)
    var steps: [RecordedStep] = []
    while try reader.read(&decoder, into: &steps) {
      if let header = reader.header, header.segment != number {
        problems.append(
          "\(path) is left out: it says that it is segment \(header.segment) of a log")
        return leaveOut(number)
      }
      for step in steps { if let mark = LogMark(step) { note(mark, number) } }
      steps.removeAll(keepingCapacity: true)
    }
    // Behind damage there is nothing to continue.
    let previous = isLastDamaged ? nil : reader.header?.previous
    let isCutShort =
      reader.goodBytes == 0 || reader.goodBytes < reader.syncedBytes
      || (reader.end != nil && reader.goodBytes < size)
    let isDamaged =
      isCutShort
      || (lastNumber != nil && (lastNumber != number - 1 || (previous ?? end?.text) != end?.text))
    if isDamaged {
      problems.append(
        "the log of the rooms is damaged in segment \(number): rooms come back in the state before the damage, or in one saved later"
      )
    }
    segments.append(
      RecordingFiles(
        name: "log", room: "",
        segments: [
          RecordingFiles.Segment(
            number: 1, path: path, bytes: reader.goodBytes, last: nil, isShortened: isCutShort)
        ], disk: disk))
    (lastNumber, isLastDamaged) = (number, isDamaged)
    end = reader.end == nil ? nil : reader.chain
    if isLast, !isDamaged, reader.end == nil { close(reader, path) }
  }

  /// Leaves out a segment that cannot be read.
  mutating func skip(_ number: Int, at path: String, because error: RecordingError) {
    lose(
      "\(error): rooms come back without what they did in it; make it readable and start livehostd again"
    )
    leaveOut(number)
  }

  private mutating func leaveOut(_ number: Int) {
    (lastNumber, isLastDamaged, end) = (number, true, nil)
  }

  /// Notes that the newest segment is gone, or empty.
  mutating func noteMissing(_ number: Int, in directory: String) {
    lose(
      "segment \(number) of the log in \(directory) is missing, or lacks what was written: rooms come back without what they did in it"
    )
  }

  private mutating func lose(_ text: String) {
    problems.append(text)
    losses.append(text)
  }

  private mutating func note(_ mark: LogMark, _ segment: Int) {
    newestSession = max(newestSession, mark.session)
    var room = rooms[mark.room] ?? Room(last: mark.position, firstSegment: segment)
    room.last = max(room.last, mark.position)
    if let time = mark.opened, mark.session > room.opened?.session ?? 0 {
      room.opened = Room.Opening(session: mark.session, time: time)
    }
    if mark.closed == true { room.closed = max(room.closed ?? 0, mark.session) }
    rooms[mark.room] = room
  }

  /// Closes the segment that was being written when the program ended.
  private mutating func close(_ reader: SegmentReader, _ path: String) {
    guard let chain = reader.chain else { return }
    do throws(RecordingError) {
      end = try SegmentClosing.close(
        path, at: reader.goodBytes, chain,
        with: SegmentEnd(events: reader.contents.events, frames: reader.contents.frames), on: disk)
    } catch {
      // The next segment does not name this one as the one before it.
      problems.append("\(error)")
    }
  }
}

extension LogMark {
  /// `nil` if the step is something else.
  package init?(_ step: RecordedStep) {
    guard case .change(let text, _) = step, text.utf8.starts(with: #"{"room":"#.utf8) else {
      return nil
    }
    if let mark = LogMark(plain: text) {
      self = mark
    } else if let mark: LogMark = try? JSONValue(parsing: text).decode() {
      self = mark
    } else {
      return nil
    }
  }

  /// A mark without the members that most do not have, read without a detour through JSON: each batch in the log has
  /// one.
  private init?(plain text: String) {
    let parts = text.utf8.dropLast().split(separator: UInt8(ascii: ","))
    guard parts.count == 3, let session = Int(Substring(parts[1].dropFirst(10))),
      let batch = Int(Substring(parts[2].dropFirst(8)))
    else { return nil }
    let mark = LogMark(
      room: String(Substring(parts[0].dropFirst(9).dropLast())),
      at: LogPosition(session: session, batch: batch))
    guard mark.text == text else { return nil }
    self = mark
  }
}
