import FileSystem
import JSON
import LiveEvents
import RateLimiting
import SystemSupport

/// Converts what versions without log sequences left on disk, once, at the first start.
///
/// In their state a room wrote either to the log or, while it was recorded, to its recording. A
/// snapshot says how far the room was in both, and marks in the log name the recordings between
/// them. The converted log has whatever follows the snapshot of each room, from wherever it was.
/// Recordings stay as they are.
///
/// The converted log is written beside the old one and replaces it once it is complete, so a start
/// after a kill has the same result as one that was not killed.
struct EarlierState {
  private let snapshots: StateDirectory
  private let read: (_ room: String, _ file: String) -> [UInt8]?
  private let log: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let onProblem: @Sendable (String) -> Void
  private var logged: [String: LoggedRoom] = [:]
  private var rooms: [String: EarlierRoom] = [:]
  /// What is missing in rooms, for people.
  private(set) var losses: [String] = []
  /// Whether everything in the old log that a room may need is in the converted one.
  private var isWhole = true
  private var sequence = 0

  /// - Parameters:
  ///   - read: reads a file of `snapshots` that belongs to a room; `nil` if the room cannot be
  ///     restored from it.
  ///   - log: the directory of the log.
  init(
    snapshots: StateDirectory, read: @escaping (_ room: String, _ file: String) -> [UInt8]?,
    log: String, settings: RecordingSettings, progress: RecoveryProgress,
    onProblem: @escaping @Sendable (String) -> Void
  ) {
    (self.snapshots, self.read, self.log) = (snapshots, read, log)
    (self.settings, self.progress, self.onProblem) = (settings, progress, onProblem)
  }

  // MARK: Files

  private var disk: any Disk { settings.disk }
  private var new: String { log + ".new" }
  /// The old log, once the converted one is complete.
  private var old: String { log + ".old" }
  /// The same, if parts of it could not be converted: it is kept.
  private var unconverted: String { log + ".unconverted" }
  private var newest: NewestSegment {
    var newest = NewestSegment(of: log, on: disk)
    newest.read()
    return newest
  }

  /// What files with snapshots of a room are called, in the order in which they count. Rooms that
  /// were set aside need what follows, too: people may bring them back.
  private static let suffixes = [".json", ".json.previous", ".json.set-aside"]

  private func exists(_ path: String) -> Bool { (try? disk.state(of: path)) != nil }

  private func segments() throws(RecordingError) -> [Int] {
    try Directories.names(in: log, on: disk).compactMap(RecordingFiles.number)
  }

  /// The names of rooms with snapshots, and of the files with these.
  private func saved() -> (rooms: Set<String>, files: Set<String>) {
    let files = (try? snapshots.names()) ?? []
    let rooms = files.compactMap { file in
      Self.suffixes.first { file.hasSuffix($0) }.map { String(file.dropLast($0.count)) }
    }
    return (Set(rooms), Set(files))
  }

  /// Whether there is something to convert. Removes what an earlier conversion left.
  func isThere() -> Bool {
    guard newest.isCurrent else {
      return exists(old) || exists(unconverted) || (try? segments())?.isEmpty == false
        || !saved().rooms.isEmpty
    }
    if exists(old) { try? remove(old) }
    return false
  }

  /// Converts it, once the recordings are recovered.
  mutating func convert(
    with store: RecordingStore, _ recordings: [RecordingRow]
  ) throws(RecordingError) {
    if !exists(old), !exists(unconverted) {
      if exists(new) { try remove(new) }
      let contents = try LogSession(
        directory: log, settings: settings, progress: progress, index: RecordingIndex(),
        onProblem: onProblem
      ).recover()
      guard let logged = LoggedRoom.all(in: contents) else {
        // Only the file beside the log was lost.
        return try newest.replace(number: segments().max() ?? 0)
      }
      self.logged = logged
      (losses, isWhole) = (contents.losses, contents.losses.isEmpty)
      progress.begin(bytes: contents.bytes)
      defer { progress.begin(bytes: 0) }
      try write(contents, with: store, recordings)
      try rename(log, to: isWhole ? old : unconverted)
    }
    if exists(new) { try rename(new, to: log) }
    try newest.replace(number: segments().max() ?? 0)
    if exists(old) { try remove(old) }
  }

  private func rename(_ path: String, to newPath: String) throws(RecordingError) {
    try Directories.rename(path, to: newPath, on: disk)
    try Directories.sync(Directories.parent(of: log), on: disk)
  }

  private func remove(_ path: String) throws(RecordingError) {
    for name in try Directories.names(in: path, on: disk) {
      _ = try Directories.remove(path + "/" + name, on: disk)
    }
    try RecordingError.naming(path) { () throws(SystemError) in try disk.removeDirectory(path) }
  }

  // MARK: The converted log

  private mutating func write(
    _ contents: LogContents, with store: RecordingStore, _ recordings: [RecordingRow]
  ) throws(RecordingError) {
    try begin(with: store, recordings)
    try Directories.make(new, on: disk)
    // No time passes: segments are closed and synced because of their size only.
    let writer = try SegmentSequence(
      SegmentHeader(name: "log", room: "", segment: 1, startedAt: WallClock.milliseconds()),
      after: (SegmentContents(), 0, 0, nil), directory: new, settings: settings,
      syncNanoseconds: .max, now: 0
    ) { _, _ in }
    for files in contents.segments { try play(files, with: store, to: writer) }
    for name in rooms.keys.sorted() {
      rooms[name]?.end()
      if rooms[name]?.isLost == true, rooms[name]?.logged != nil {
        lose("the latest changes of room \(name) are lost: the log does not continue its state")
      }
      if let end = rooms[name]?.recorded { try catchUp(name, from: end, with: store, to: writer) }
      try append([], of: name, to: writer)
    }
    try writer.close { _ in }
  }

  private mutating func lose(_ text: String) {
    isWhole = false
    losses.append(text)
    onProblem(text)
  }

  /// Appends a batch of a room, unless it says nothing.
  private mutating func append(
    _ steps: ArraySlice<RecordedStep>, of name: String, to writer: SegmentSequence
  ) throws(RecordingError) {
    guard var room = rooms[name], !steps.isEmpty || room.opened != nil else { return }
    sequence += 1
    var mark = LogMark(room: name, sequence: sequence, after: room.sequence)
    mark.opened = room.opened
    var batch = RecordedBatch()
    batch.addMark(mark)
    for step in steps {
      switch step {
      case .event(let event, let instant): batch.add([event], at: instant)
      case .frame(let instant, let flush): batch.addFrame(at: instant, flush: flush)
      // What looks like a mark in a recording comes from elsewhere.
      case .change(let text, let instant):
        if LogMark(step) == nil { batch.addChange(text, at: instant) }
      }
    }
    try writer.append(batch.entries, copy: nil, now: 0)
    try writer.commit(isAwaited: false, now: 0)
    (room.sequence, room.opened) = (sequence, nil)
    rooms[name] = room
  }

  // MARK: Where rooms begin

  private mutating func begin(
    with store: RecordingStore, _ recordings: [RecordingRow]
  ) throws(RecordingError) {
    let saved = saved()
    for name in saved.rooms.union(logged.filter { $0.value.start != nil }.keys).sorted()
    where RoomName(name) != nil {
      rooms[name] = try begin(name, saved.files) { room, closed in
        Self.lastRecording(
          recordings.filter { $0.room == name }, behind: room, and: closed, in: store)
      }
    }
    for (name, room) in logged where room.isOpen && rooms[name] == nil {
      isWhole = false
      guard !saved.rooms.contains(name) else { continue }
      lose(
        RoomName(name).map {
          "room \($0) is not restored: it has no snapshot, and the log does not contain its opening"
        } ?? "batches in the write-ahead log whose room's name is invalid are not restored")
    }
    // Otherwise those that are removed may come back.
    if !saved.files.isEmpty { try snapshots.sync() }
  }

  /// From what a room is restored. Removes snapshots that the converted log does not follow.
  private func begin(
    _ name: String, _ files: Set<String>,
    lastRecording: (LogPosition?, _ closed: Int?) -> (row: RecordingRow, logEnd: LogPosition)?
  ) throws(RecordingError) -> EarlierRoom? {
    var room: EarlierRoom?
    var isOlder = false
    var obsolete: String?
    for suffix in Self.suffixes where room == nil && files.contains(name + suffix) {
      room = read(name, name + suffix).flatMap { EarlierRoom(snapshot: $0) }
      if room == nil {
        isOlder = true
      } else if suffix == Self.suffixes[0] {
        obsolete = name + Self.suffixes[1]
      }
    }
    let log = logged[name]
    if let log, room == nil || room?.logged != nil {
      let session = room?.logged?.session ?? 0
      let isOpen = log.isOpen || session > log.closed ?? 0
      let start = log.start.flatMap { $0.session > session ? $0 : nil }
      if !isOpen || start != nil { obsolete = name + Self.suffixes[0] }
      if let start { room = EarlierRoom(openedAt: start.time, in: start.session) }
      if !isOpen { (room, isOlder) = (nil, false) }
    }
    if let obsolete { _ = try snapshots.remove(obsolete) }
    if isOlder, let last = lastRecording(room?.logged, log?.closed),
      last.row.name != room?.recorded?.recording
    {
      if room?.recorded == nil {
        onProblem(
          "room \(name) is restored from its recording, because its newest snapshot cannot be read")
      }
      if room == nil {
        room = EarlierRoom(recording: last.row)
      } else {
        room?.last = (last.row.name, last.logEnd)
      }
    }
    room?.isOlder = isOlder
    return room
  }

  /// Of recordings of a room, the one that was being written, if it began after what is known of
  /// the room. By what the recordings say of the log in front of them: the clock may have been set
  /// back between two of them.
  private static func lastRecording(
    _ recordings: [RecordingRow], behind saved: LogPosition?, and closed: Int?,
    in store: RecordingStore
  ) -> (row: RecordingRow, logEnd: LogPosition)? {
    recordings.reduce(nil) { last, row in
      guard row.state == RecordingState.interrupted.rawValue,
        let end = logEnd(before: row.name, in: store), end.session > closed ?? 0,
        saved.map({ end >= $0 }) ?? true, last.map({ end > $0.logEnd }) ?? true
      else { return last }
      return (row, end)
    }
  }

  /// The end of the log in front of a recording; `nil` if its first line does not say.
  private static func logEnd(before recording: String, in store: RecordingStore) -> LogPosition? {
    guard let files = try? store.files(of: recording) else { return nil }
    var reader = RecordingReader(files)
    var steps: [RecordedStep] = []
    while steps.isEmpty, (try? reader.read(into: &steps)) == true {}
    guard case .change(let text, _) = steps.first else { return nil }
    return EarlierChange(text: text)?.after
  }

  // MARK: What follows

  /// Plays a segment of the old log.
  private mutating func play(
    _ files: RecordingFiles, with store: RecordingStore, to writer: SegmentSequence
  ) throws(RecordingError) {
    var reader = RecordingReader(files)
    /// Whose steps follow; `nil` if nobody needs them.
    var current: String?
    var hasMore = true
    while hasMore {
      var steps: [RecordedStep] = []
      let bytes = reader.bytesRead
      var isCutShort = false
      do throws(RecordingError) {
        hasMore = try reader.read(into: &steps)
      } catch {
        // Whose batches are missing finds out by the next mark; of the last one, a part may be
        // there.
        (hasMore, isCutShort, isWhole) = (false, true, false)
      }
      progress.note(read: reader.bytesRead - bytes)
      var due = steps[...]
      while let step = due.first {
        if let mark = EarlierMark(step) {
          due.removeFirst()
          if let start = rooms[mark.room]?.recording(before: mark),
            try !catchUp(mark.room, from: start, until: mark.recorded, with: store, to: writer)
          {
            rooms[mark.room]?.isLost = true
          }
          current = rooms[mark.room]?.follows(mark) == true ? mark.room : nil
        }
        let batch = due.prefix { !EarlierMark.isMark($0) }
        due = due[batch.endIndex...]
        if let current { try append(batch, of: current, to: writer) }
      }
      if isCutShort, let current { rooms[current]?.isLost = true }
    }
  }

  /// Plays what a room recorded. A recording that cannot be read to its end leaves the room where
  /// it stopped.
  ///
  /// - Parameter end: where something else comes next.
  /// - Returns: `false` if something is missing, so that the room must not take what comes next.
  @discardableResult
  private mutating func catchUp(
    _ room: String, from start: RecordedPosition, until end: RecordedPosition? = nil,
    with store: RecordingStore, to writer: SegmentSequence
  ) throws(RecordingError) -> Bool {
    var position = start
    var isWhole = true
    /// How many of the steps at the position's instant have not been found yet.
    var missing = max(0, start.steps)
    var failure: RecordingError?
    var reader: RecordingReader?
    do throws(RecordingError) {
      reader = RecordingReader(try store.files(of: start.recording), from: start.instant)
    } catch {
      failure = error
    }
    var hasMore = failure == nil
    while hasMore {
      var steps: [RecordedStep] = []
      do throws(RecordingError) {
        hasMore = try reader?.read(into: &steps) == true
      } catch {
        (failure, hasMore) = (error, false)
      }
      progress.note(read: 0)
      let known = steps.prefix(missing).prefix { $0.instant == start.instant }.count
      missing -= known
      var due: [RecordedStep] = []
      for step in steps.dropFirst(known) where position != end {
        position.advance(to: step.instant)
        if isWhole, step.followsSnapshot {
          // With an older snapshot, what follows may have been acknowledged.
          isWhole = rooms[room]?.isOlder == true
          lose(
            "the changes of room \(room) while recording \(start.recording) was paused\(isWhole ? "" : ", and after that,") are lost"
          )
        }
        if isWhole { due.append(step) }
      }
      if position == end { hasMore = false }
      try append(due[...], of: room, to: writer)
    }
    let reason = failure.map { ": \($0)" } ?? ""
    if missing > 0 {
      // What comes next at this instant is counted from what is there.
      if position == start { position.steps -= missing }
      onProblem(
        "the snapshot of room \(room) is newer than the end of its recording: the room keeps its state, but its recording lacks the steps in between\(reason)"
      )
    } else if failure != nil {
      onProblem("the last recorded steps of room \(room) are missing from its state\(reason)")
    }
    rooms[room]?.recorded = position
    return isWhole && missing <= 0 && failure == nil
  }
}

// MARK: - What earlier versions wrote

/// A position in the log: behind a batch of a session of one room.
private struct LogPosition: Decodable, Equatable, Comparable {
  let session: Int
  let batch: Int

  static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.session, left.batch) < (right.session, right.batch)
  }
}

/// A position between two steps of a recording.
private struct RecordedPosition: Decodable, Equatable {
  let recording: String
  /// The room's time at the last step before, and how many of the steps at that time precede the
  /// position.
  var instant: Instant
  var steps: Int

  mutating func advance(to next: Instant) {
    (instant, steps) = (next, next == instant ? steps + 1 : 1)
  }
}

/// The mark in front of a batch in the log.
private struct EarlierMark: Decodable {
  let room: String
  let session: Int
  let batch: Int
  var opened: Int?
  var after: LogPosition?
  var recorded: RecordedPosition?
  var closed: Bool?
  var position: LogPosition { LogPosition(session: session, batch: batch) }

  /// `nil` if the step is something else. A mark that no daemon writes is one of no room: what is
  /// behind it must not be taken for what the room before it did.
  init?(_ step: RecordedStep) {
    guard case .change(let text, _) = step, Self.isMark(step) else { return nil }
    if let mark = EarlierMark(text: text), mark.session >= 0 {
      self = mark
    } else {
      (room, session, batch) = ("", 0, 0)
    }
  }

  static func isMark(_ step: RecordedStep) -> Bool {
    if case .change(let text, _) = step { text.utf8.starts(with: #"{"room":"#.utf8) } else { false }
  }
}

/// What a change in a recording says of what is in front of it.
private struct EarlierChange: Decodable {
  var after: LogPosition?
  var followsSnapshot: Bool?
}

extension Decodable {
  /// `nil` if the text is something else, or has a number that no daemon writes.
  fileprivate init?(text: String) {
    var text = text
    guard text.withUTF8(KeptNumbers.impossibleMember) == nil,
      let value: Self = try? JSONValue(parsing: text).decode()
    else { return nil }
    self = value
  }
}

extension RecordedStep {
  /// Whether only a snapshot has what lies in front of it.
  fileprivate var followsSnapshot: Bool {
    guard case .change(let text, _) = self, text.contains("followsSnapshot") else { return false }
    return EarlierChange(text: text)?.followsSnapshot == true
  }
}

/// What the log says of a room.
private struct LoggedRoom {
  /// The session with which the newest life of the room begins, and when, in milliseconds since
  /// 1970.
  private var opened: (session: Int, time: Int)?
  /// The newest session in which the room was closed for good.
  private(set) var closed: Int?
  private var last = 0
  var isOpen: Bool { closed.map { last > $0 } ?? true }
  /// Where it was opened, if it was not closed after that.
  var start: (session: Int, time: Int)? { opened.flatMap { $0.session > closed ?? 0 ? $0 : nil } }

  /// `nil` if it is a log of the present version.
  static func all(in log: LogContents) -> [String: LoggedRoom]? {
    var rooms: [String: LoggedRoom] = [:]
    for files in log.segments {
      var reader = RecordingReader(files, decodes: false)
      var steps: [RecordedStep] = []
      // What is damaged is told where it is played.
      while (try? reader.read(into: &steps)) == true {
        for step in steps {
          guard let mark = EarlierMark(step) else { continue }
          if mark.room.isEmpty, LogMark(step)?.room.isEmpty == false { return nil }
          rooms[mark.room, default: LoggedRoom()].note(mark)
        }
        steps.removeAll(keepingCapacity: true)
      }
    }
    return rooms
  }

  private mutating func note(_ mark: EarlierMark) {
    last = max(last, mark.session)
    if let time = mark.opened, mark.session > opened?.session ?? 0 { opened = (mark.session, time) }
    if mark.closed == true { closed = max(closed ?? 0, mark.session) }
  }
}

/// A room between its snapshot and the end of what it did.
private struct EarlierRoom {
  /// How much of the log it has seen; `nil` if the log says nothing about it.
  private(set) var logged: LogPosition?
  /// How much it has seen of its recording, which may be over; `nil` if it has none.
  var recorded: RecordedPosition?
  /// Whether there was a newer snapshot, which cannot be read.
  var isOlder = false
  /// A recording that no snapshot mentions, but which says that it follows on something in the log.
  var last: (recording: String, logEnd: LogPosition)?
  /// Whether the log does not lead on.
  var isLost = false
  /// When it was opened, in milliseconds since 1970, if the converted log has to say so.
  var opened: Int?
  /// The log sequence of its last batch in the converted log.
  var sequence = 0

  private struct Snapshot: Decodable {
    var log: LogPosition?
    var recording: RecordedPosition?
  }

  init?(snapshot text: [UInt8]) {
    guard let saved = Snapshot(text: String(decoding: text, as: UTF8.self)) else { return nil }
    (logged, recorded) = (saved.log, saved.recording)
  }

  init(openedAt time: Int, in session: Int) {
    (logged, opened) = (LogPosition(session: session, batch: 0), time)
  }

  /// A room of which nothing but a recording is left.
  init(recording row: RecordingRow) {
    (recorded, opened) = (Self.beginning(of: row.name), row.startedAt)
  }

  private static func beginning(of recording: String) -> RecordedPosition {
    RecordedPosition(recording: recording, instant: .origin, steps: 0)
  }

  /// From where on the recording has to be played that comes before what follows a mark in the log;
  /// `nil` if none does.
  func recording(before mark: EarlierMark) -> RecordedPosition? {
    guard let end = mark.recorded, !isLost, isAhead(mark) else { return nil }
    if let recorded { return recorded.recording == end.recording ? recorded : nil }
    return mark.after == logged ? Self.beginning(of: end.recording) : nil
  }

  private func isAhead(_ mark: EarlierMark) -> Bool {
    logged.map { mark.position > $0 } ?? (recorded != nil)
  }

  /// Whether what follows a mark in the log is the next that happened in the room.
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

  /// Goes on, behind the log, with the recording that no snapshot mentions, unless the log has led
  /// to it.
  mutating func end() {
    guard let last, last.recording != recorded?.recording else { return }
    if recorded == nil { isLost = isLost || last.logEnd != logged }
    if recorded == nil || last.logEnd == logged { recorded = Self.beginning(of: last.recording) }
  }
}
