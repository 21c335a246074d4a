import FileSystem
import LiveEvents
import RateLimiting
import SystemSupport

/// Converts the state of versions without log sequences, once, at the first start.
///
/// Those versions wrote the batches of a room to the log or, while the room was recorded, only to
/// its recording. A snapshot states the position of the room in both, and marks in the log name the
/// recordings between two batches. The converted log contains all batches after the snapshot of
/// each room, from the log and from recordings. Recordings are not changed.
///
/// The converted log is written beside the old one and replaces it once it is complete. A
/// conversion that is killed is therefore repeated with the same result.
struct EarlierState {
  private let snapshots: StateDirectory
  private let read: (_ room: String, _ file: String) -> [UInt8]?
  private let log: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let onProblem: @Sendable (String) -> Void
  private var logged: [String: LoggedRoom] = [:]
  private var rooms: [String: EarlierRoom] = [:]
  /// Messages about everything that rooms have lost.
  private(set) var losses: [String] = []
  /// Whether the converted log contains everything that rooms may need of the old one.
  private var isWhole = true
  private var sequence = 0

  /// - Parameters:
  ///   - read: returns the contents of a file in `snapshots`; `nil` if its room cannot be restored
  ///     from it.
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
  /// The path of the old log once the converted one is complete.
  private var old: String { log + ".old" }
  /// The path to which the old log is moved and kept if parts of it could not be converted.
  private var unconverted: String { log + ".unconverted" }
  private var newest: NewestSegment {
    var newest = NewestSegment(of: log, on: disk)
    newest.read()
    return newest
  }

  /// The suffixes of snapshot files, in order of preference. Rooms that were set aside are
  /// converted as well, because users may restore them.
  private static let suffixes = [".json", ".json.previous", ".json.set-aside"]

  private func exists(_ path: String) -> Bool { (try? disk.state(of: path)) != nil }

  private func segments() throws(RecordingError) -> [Int] {
    try Directories.names(in: log, on: disk).compactMap(RecordingFiles.number)
  }

  /// Returns the names of rooms with snapshots, and of all files in the directory.
  private func saved() -> (rooms: Set<String>, files: Set<String>) {
    let files = (try? snapshots.names()) ?? []
    let rooms = files.compactMap { file in
      Self.suffixes.first { file.hasSuffix($0) }.map { String(file.dropLast($0.count)) }
    }
    return (Set(rooms), Set(files))
  }

  /// Whether there is a state to convert. Removes the old log if an earlier conversion was killed
  /// before it did.
  func isThere() -> Bool {
    guard newest.isCurrent else {
      return exists(old) || exists(unconverted) || (try? segments())?.isEmpty == false
        || !saved().rooms.isEmpty
    }
    if exists(old) { try? remove(old) }
    return false
  }

  /// Converts the state. Must be called after the recovery of the recordings.
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
        // The log is of the present version, and only the file beside it was lost.
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
    // The time is constant, so that segments are closed because of their size only.
    let writer = try SegmentSequence(
      SegmentHeader(name: "log", room: "", segment: 1, startedAt: WallClock.milliseconds()),
      after: (SegmentContents(), 0, 0, nil), directory: new, settings: settings,
      syncNanoseconds: .max, now: 0
    ) { _, _ in }
    for files in contents.segments { try play(files, with: store, to: writer) }
    for name in rooms.keys.sorted() {
      rooms[name]?.end()
      if rooms[name]?.isLost == true, rooms[name]?.logged != nil {
        lose("room \(name) is restored without its last batches: the log has a gap before them")
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

  /// Appends a batch of a room, unless it is empty.
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
      // A change that looks like a mark was not written by this program.
      case .change(let text, let instant):
        if LogMark(step) == nil { batch.addChange(text, at: instant) }
      }
    }
    try writer.append(batch, copy: nil, now: 0)
    try writer.commit(isAwaited: false, now: 0)
    (room.sequence, room.opened) = (sequence, nil)
    rooms[name] = room
  }

  // MARK: The state from which rooms are restored

  private mutating func begin(
    with store: RecordingStore, _ recordings: [RecordingRow]
  ) throws(RecordingError) {
    let saved = saved()
    for name in saved.rooms.union(logged.filter { $0.value.start != nil }.keys).sorted()
    where RoomName(name) != nil {
      rooms[name] = try begin(name, saved.files) { room, closed in
        Self.lastRecording(
          recordings.filter { $0.room == name }, after: room, and: closed, in: store)
      }
    }
    for (name, room) in logged where room.isOpen && rooms[name] == nil {
      isWhole = false
      guard !saved.rooms.contains(name) else { continue }
      lose(
        RoomName(name).map {
          "room \($0) is not restored: it has no snapshot, and the log does not contain its opening"
        } ?? "parts of the write-ahead log are not restored: they name no room")
    }
    // Otherwise a crash may restore removed snapshots.
    if !saved.files.isEmpty { try snapshots.sync() }
  }

  /// Returns the state from which a room is restored. Removes snapshots that the converted log
  /// cannot continue.
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

  /// Returns the recording of a room that was being written, if it began after the room's position.
  ///
  /// Recordings are compared by the positions in the log at which they began, because the clock may
  /// have been set back between two recordings.
  private static func lastRecording(
    _ recordings: [RecordingRow], after saved: LogPosition?, and closed: Int?,
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

  /// Returns the position in the log before a recording; `nil` if its first line does not state it.
  private static func logEnd(before recording: String, in store: RecordingStore) -> LogPosition? {
    guard let files = try? store.files(of: recording) else { return nil }
    var reader = RecordingReader(files)
    var steps: [RecordedStep] = []
    while steps.isEmpty, (try? reader.read(into: &steps)) == true {}
    guard case .change(let text, _) = steps.first else { return nil }
    return EarlierChange(text: text)?.after
  }

  // MARK: Batches after the snapshots

  /// Converts a segment of the old log.
  private mutating func play(
    _ files: RecordingFiles, with store: RecordingStore, to writer: SegmentSequence
  ) throws(RecordingError) {
    var reader = RecordingReader(files)
    /// The room to which the next steps belong; `nil` if they are not needed.
    var current: String?
    var hasMore = true
    while hasMore {
      var steps: [RecordedStep] = []
      let bytes = reader.bytesRead
      var isCutShort = false
      do throws(RecordingError) {
        hasMore = try reader.read(into: &steps)
      } catch {
        // The next mark of a room reveals that its batches are missing. The last batch may be
        // incomplete.
        (hasMore, isCutShort, isWhole) = (false, true, false)
      }
      progress.subtract(read: reader.bytesRead - bytes)
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

  /// Converts the batches of a room in a recording. If the recording cannot be read to its end, the
  /// room stays at the last readable step.
  ///
  /// - Parameter end: the position at which the log continues.
  /// - Returns: `false` if batches are missing, so that later ones must not be applied.
  @discardableResult
  private mutating func catchUp(
    _ room: String, from start: RecordedPosition, until end: RecordedPosition? = nil,
    with store: RecordingStore, to writer: SegmentSequence
  ) throws(RecordingError) -> Bool {
    var position = start
    var isWhole = true
    /// The number of steps at the position's instant that were not found yet.
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
      progress.subtract(read: 0)
      let known = steps.prefix(missing).prefix { $0.instant == start.instant }.count
      missing -= known
      var due: [RecordedStep] = []
      for step in steps.dropFirst(known) where position != end {
        position.advance(to: step.instant)
        if isWhole, step.followsSnapshot {
          // If the newest snapshot could not be read, the steps that follow may have been
          // acknowledged, and are kept.
          isWhole = rooms[room]?.isOlder == true
          lose(
            "room \(room) is restored without the steps from while recording \(start.recording) was paused\(isWhole ? "" : ", and after that")"
          )
        }
        if isWhole { due.append(step) }
      }
      if position == end { hasMore = false }
      try append(due[...], of: room, to: writer)
    }
    let reason = failure.map { ": \($0)" } ?? ""
    if missing > 0 {
      // The recording lacks these steps, so later steps at this instant are counted without them.
      if position == start { position.steps -= missing }
      onProblem(
        "the snapshot of room \(room) is newer than the end of its recording, and is kept; the recording lacks the steps before the snapshot\(reason)"
      )
    } else if failure != nil {
      onProblem("room \(room) is restored without the last steps of its recording\(reason)")
    }
    rooms[room]?.recorded = position
    return isWhole && missing <= 0 && failure == nil
  }
}
