import JSON
import LiveEvents
import RateLimiting

/// A position in the log of an earlier version: after a batch of one room. Batches are numbered
/// within a session of the room.
struct LogPosition: Decodable, Equatable, Comparable, Bounded {
  let session: Int
  let batch: Int

  static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.session, left.batch) < (right.session, right.batch)
  }

  func checkBounds() throws(OutOfBounds) { try require(countable: session, batch, in: "batch") }
}

/// A position in a recording of an earlier version, between two steps.
struct RecordedPosition: Decodable, Equatable, Bounded {
  let recording: String
  /// The room's time at the step before the position, and the number of steps at that time before
  /// it.
  var instant: Instant
  var steps: Int

  mutating func advance(to next: Instant) {
    (instant, steps) = (next, next == instant ? steps + 1 : 1)
  }

  func checkBounds() throws(OutOfBounds) {
    try require((.origin...SegmentLines.latest).contains(instant), "instant")
    try require(countable: steps, in: "steps")
  }
}

/// The mark before a batch in the log of an earlier version.
struct EarlierMark: Decodable, Bounded {
  let room: String
  let session: Int
  let batch: Int
  var opened: Int?
  var after: LogPosition?
  var recorded: RecordedPosition?
  var closed: Bool?
  var position: LogPosition { LogPosition(session: session, batch: batch) }

  /// Reads the mark in a step; `nil` if the step is not a mark. An invalid mark yields a mark
  /// without a room name, so that the lines after it are not attributed to the previous room.
  init?(_ step: RecordedStep) {
    guard case .change(let text, _) = step, Self.isMark(step) else { return nil }
    if let mark = EarlierMark(text: text), mark.session >= 0 {
      self = mark
    } else {
      (room, session, batch) = ("", 0, 0)
    }
  }

  func checkBounds() throws(OutOfBounds) {
    try check(position, "position")
    try require(countable: opened, in: "opened")
    try check(after, "after")
    try check(recorded, "recorded")
  }

  static func isMark(_ step: RecordedStep) -> Bool {
    if case .change(let text, _) = step { text.utf8.starts(with: #"{"room":"#.utf8) } else { false }
  }
}

/// A change in a recording that states what precedes it.
struct EarlierChange: Decodable, Bounded {
  var after: LogPosition?
  var followsSnapshot: Bool?

  func checkBounds() throws(OutOfBounds) { try check(after, "after") }
}

extension Decodable where Self: Bounded {
  /// Decodes JSON text; `nil` if it is something else, or contains a number out of range.
  init?(text: String) {
    guard let value: Self = try? JSONValue(parsing: text).decode(),
      (try? value.checkBounds()) != nil
    else { return nil }
    self = value
  }
}

extension RecordedStep {
  /// Whether only a snapshot contains the steps before it.
  var followsSnapshot: Bool {
    guard case .change(let text, _) = self, text.contains("followsSnapshot") else { return false }
    return EarlierChange(text: text)?.followsSnapshot == true
  }
}

/// The openings and closings of a room in the log.
struct LoggedRoom {
  /// The session in which the room was last opened, and when, in milliseconds since 1970.
  private var opened: (session: Int, time: Int)?
  /// The newest session in which the room was closed permanently.
  private(set) var closed: Int?
  private var last = 0
  var isOpen: Bool { closed.map { last > $0 } ?? true }
  /// The last opening, if the room was not closed after it.
  var start: (session: Int, time: Int)? { opened.flatMap { $0.session > closed ?? 0 ? $0 : nil } }

  /// Returns the rooms in a log; `nil` if the log is of the present version.
  static func all(in log: LogContents) -> [String: LoggedRoom]? {
    var rooms: [String: LoggedRoom] = [:]
    for files in log.segments {
      var reader = RecordingReader(files, decodes: false)
      var steps: [RecordedStep] = []
      // Damage is reported when the log is converted.
      while (try? reader.read(into: &steps)) == true {
        for step in steps {
          guard let mark = EarlierMark(step) else { continue }
          if mark.room.isEmpty, LogMark(step)?.room.isEmpty == false { return nil }
          rooms[mark.room, default: LoggedRoom()].add(mark)
        }
        steps.removeAll(keepingCapacity: true)
      }
    }
    return rooms
  }

  private mutating func add(_ mark: EarlierMark) {
    last = max(last, mark.session)
    if let time = mark.opened, mark.session > opened?.session ?? 0 { opened = (mark.session, time) }
    if mark.closed == true { closed = max(closed ?? 0, mark.session) }
  }
}

/// The state of a room during the conversion, from its snapshot to its last batch.
struct EarlierRoom {
  /// The position of the room in the log; `nil` if the log has no batch of it.
  private(set) var logged: LogPosition?
  /// The position of the room in its recording, which may have ended; `nil` if it has none.
  var recorded: RecordedPosition?
  /// Whether a newer snapshot exists that cannot be read.
  var isOlder = false
  /// A recording that no snapshot names, and the position in the log at which it began.
  var last: (recording: String, logEnd: LogPosition)?
  /// Whether batches are missing, so that later ones are not applied.
  var isLost = false
  /// When the room was opened, in milliseconds since 1970; `nil` unless the converted log must
  /// state it.
  var opened: Int?
  /// The log sequence of the last batch in the converted log.
  var sequence = 0

  private struct Snapshot: Decodable, Bounded {
    var log: LogPosition?
    var recording: RecordedPosition?

    func checkBounds() throws(OutOfBounds) {
      try check(log, "log")
      try check(recording, "recording")
    }
  }

  init?(snapshot text: [UInt8]) {
    guard let saved = Snapshot(text: String(decoding: text, as: UTF8.self)) else { return nil }
    (logged, recorded) = (saved.log, saved.recording)
  }

  init(openedAt time: Int, in session: Int) {
    (logged, opened) = (LogPosition(session: session, batch: 0), time)
  }

  /// Creates a room of which only a recording is left.
  init(recording row: RecordingRow) {
    (recorded, opened) = (Self.beginning(of: row.name), row.startedAt)
  }

  private static func beginning(of recording: String) -> RecordedPosition {
    RecordedPosition(recording: recording, instant: .origin, steps: 0)
  }

  /// Returns the position from which a recording must be converted before the batch of a mark in
  /// the log; `nil` if there is none.
  func recording(before mark: EarlierMark) -> RecordedPosition? {
    guard let end = mark.recorded, !isLost, isAhead(mark) else { return nil }
    if let recorded { return recorded.recording == end.recording ? recorded : nil }
    return mark.after == logged ? Self.beginning(of: end.recording) : nil
  }

  private func isAhead(_ mark: EarlierMark) -> Bool {
    logged.map { mark.position > $0 } ?? (recorded != nil)
  }

  /// Returns whether the batch of a mark in the log is the next one of the room, and advances to
  /// it.
  mutating func follows(_ mark: EarlierMark) -> Bool {
    guard isAhead(mark), !isLost else { return false }
    let isNext = mark.session == logged?.session && mark.batch == (logged?.batch ?? 0) + 1
    let continues =
      mark.recorded.map { $0 == recorded } ?? (logged != nil && mark.after == logged)
    guard isNext || continues else {
      isLost = logged != nil
      return false
    }
    logged = mark.position
    return true
  }

  /// Continues after the log with the recording that no snapshot names, unless the log has named
  /// it.
  mutating func end() {
    guard let last, last.recording != recorded?.recording else { return }
    if recorded == nil { isLost = isLost || last.logEnd != logged }
    if recorded == nil || last.logEnd == logged { recorded = Self.beginning(of: last.recording) }
  }
}
