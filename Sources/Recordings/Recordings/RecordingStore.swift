import FileSystem
import Glibc
import LiveEvents

/// The directory of recordings, with its catalogue and the recordings being written. Belongs to the
/// writer's thread.
final class RecordingStore {
  let directory: String
  private let logDirectory: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let index: RecordingIndex
  private let onProblem: @Sendable (String) -> Void
  /// An open catalogue, in place of the one in the directory.
  private let given: Catalogue?
  private var opened: Catalogue?
  private var sessions: [UInt64: RecordingSession] = [:]
  private var touched: Set<UInt64> = []
  /// Lines to copy to each recording after the next sync of the log, by the recorder's number.
  private var copies: [UInt64: Copy] = [:]
  private let uses = RecordingUses()

  private final class Copy {
    let recorder: RoomRecorder
    let lines = EncodedLines()
    /// The log sequence of the last batch.
    var sequence = 0
    /// The log segment with the first batch; `nil` if there is nothing to copy.
    var segment: Int?
    var steps = 0

    init(_ recorder: RoomRecorder) { self.recorder = recorder }

    func removeAll() {
      lines.removeAll()
      recorder.noteDone(exchange(&steps, with: 0))
      segment = nil
    }
  }
  /// The log that all rooms share.
  let log: LogSession

  /// - Parameter catalogue: to be used in place of the one in the directory: to open one takes
  ///   longer than to recover a small recording, and whoever makes a store for each of very many
  ///   can share one.
  init(
    directory: String, logDirectory: String, settings: RecordingSettings,
    progress: RecoveryProgress, index: RecordingIndex, catalogue: Catalogue? = nil,
    onProblem: @escaping @Sendable (String) -> Void
  ) {
    given = catalogue
    self.index = index
    self.directory = directory
    self.logDirectory = logDirectory
    self.settings = settings
    self.progress = progress
    self.onProblem = onProblem
    log = LogSession(
      directory: logDirectory, settings: settings, progress: progress, index: index,
      onProblem: onProblem)
    log.neededByRecordings = { [unowned self] in
      let open = sessions.values.lazy.compactMap(\.neededSegment)
      return [open.min(), copies.values.lazy.compactMap(\.segment).min()].compactMap(\.self).min()
    }
    // A recording must not contain what the log lacks.
    log.onFailure = { [unowned self] error in
      for copy in copies.values { copy.removeAll() }
      for session in sessions.values { session.fail(error) }
    }
  }

  // MARK: Group commit

  /// Appends a batch to the log, and remembers its lines if it is to be copied to a recording.
  ///
  /// - Parameter number: the number of the room's ``LogWriter``.
  func append(_ batch: RecordedBatch, of number: UInt64, now: UInt64) {
    let copy = batch.recorder.flatMap { copies[$0.number] }
    let segment = log.append(batch, of: number, copy: copy?.lines, now: now)
    guard let copy, let segment else {
      batch.recorder?.noteDone(batch.stepCount)
      return
    }
    copy.steps += batch.stepCount
    copy.segment = copy.segment ?? segment
    copy.sequence = batch.sequence ?? copy.sequence
  }

  /// The log is synced early when so many bytes wait to be copied.
  private static let mostUncopied = 4 << 20

  func commit(now: UInt64) { commit(isAwaited: false, now: now) }

  private func commit(isAwaited: Bool, now: UInt64) {
    let isFull = copies.values.contains { $0.lines.bytes.count >= Self.mostUncopied }
    log.commit(isAwaited: isAwaited || isFull, now: now)
    // A recording must never be ahead of the log: after a power loss it would contain steps that
    // the room has lost.
    if log.isSynced {
      for (number, copy) in copies {
        guard let segment = copy.segment else { continue }
        sessions[number]?.append(copy.lines, upTo: copy.sequence, inLog: segment, now: now)
        touched.insert(number)
        copy.removeAll()
      }
    }
    for (number, session) in sessions
    where touched.contains(number) || session.deadline.map({ $0 <= now }) ?? false {
      session.commit(now: now)
    }
    touched.removeAll(keepingCapacity: true)
  }

  func isDue(_ now: UInt64) -> Bool { deadline.map { $0 <= now } ?? false }

  var deadline: UInt64? {
    [log.deadline, sessions.values.compactMap(\.deadline).min()].compactMap(\.self).min()
  }

  // MARK: Recordings

  /// The catalogue. The first call makes it agree with the files.
  func catalogue() throws(RecordingError) -> Catalogue {
    if let opened, !opened.isDamaged { return opened }
    try Directories.create(directory, on: settings.disk)
    if let opened {
      try rebuild(opened, because: .catalogue("it was changed by another program"))
      return opened
    }
    // A log that cannot be read is reported by the restoration of rooms.
    return try open(completedBy: try? log.recover())
  }

  /// Opens the catalogue, and makes it agree with the files.
  private func open(completedBy log: LogContents?) throws(RecordingError) -> Catalogue {
    let catalogue = try openCatalogue()
    try Recovery(
      directory: directory, catalogue: catalogue, log: log, progress: progress,
      disk: settings.disk, onProblem: onProblem
    ).run()
    self.log.noteCompletedRecordings()
    try index.load(summaries(catalogue))
    opened = catalogue
    return catalogue
  }

  /// Converts what an earlier version left, before anything else happens; see ``EarlierState``.
  func convertEarlierState(
    of snapshots: StateDirectory, read: @escaping (_ room: String, _ file: String) -> [UInt8]?
  ) throws(RecordingError) -> [String] {
    var earlier = EarlierState(
      snapshots: snapshots, read: read, log: logDirectory, settings: settings, progress: progress,
      onProblem: onProblem)
    guard earlier.isThere() else { return [] }
    try Directories.create(directory, on: settings.disk)
    let recordings = try open(completedBy: nil).recordings()
    try earlier.convert(with: self, recordings)
    return earlier.losses
  }

  private func openCatalogue() throws(RecordingError) -> Catalogue {
    if let given { return given }
    return try Catalogue(
      path: settings.cataloguePath ?? directory + "/catalogue.sqlite", onProblem: onProblem)
  }

  /// Queries the catalogue. If it turns out to be damaged, it is rebuilt and queried again.
  private func query<R>(
    _ body: (Catalogue) throws(RecordingError) -> R
  ) throws(RecordingError) -> R {
    let catalogue = try catalogue()
    do throws(RecordingError) {
      return try body(catalogue)
    } catch {
      guard catalogue.isDamaged else { throw error }
      try rebuild(catalogue, because: error)
      return try body(catalogue)
    }
  }

  private func rebuild(
    _ catalogue: Catalogue, because error: RecordingError
  ) throws(RecordingError) {
    try catalogue.reset(because: error)
    let writing = sessions.values.map { ($0.name, $0.position) }
    try Recovery(
      directory: directory, catalogue: catalogue,
      writing: Dictionary(writing, uniquingKeysWith: { first, _ in first }), progress: progress,
      disk: settings.disk, onProblem: onProblem
    ).run()
    try index.load(summaries(catalogue))
  }

  /// Begins a recording.
  ///
  /// - Parameters:
  ///   - number: the number of its ``RoomRecorder``.
  ///   - sequence: a log sequence before the first batch that will be copied.
  func start(
    _ number: UInt64, room: String, startedAt: Int, after sequence: Int, now: UInt64,
    status: RecorderStatus, onEvent: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(RecordingError) -> String {
    let catalogue = try catalogue()
    let name = try makeDirectory(RecordingName.make(room: room, startedAt: startedAt))
    let row = RecordingRow(
      name: name, room: room, state: RecordingState.recording.rawValue,
      startedAt: startedAt)
    do throws(RecordingError) {
      sessions[number] = try RecordingSession(
        row: row, sequence, directory: directory + "/" + name, catalogue: catalogue,
        settings: settings, index: index, now: now, status: status, onEvent: onEvent,
        onProblem: onProblem)
    } catch {
      // Nothing is in it, and there may be many attempts.
      let path = directory + "/" + name
      while (try? DeletedRecording.removeNext(in: path, on: settings.disk)) == true {}
      throw error
    }
    return name
  }

  /// Continues a recording that was interrupted; `false` if it ended in any other way. The
  /// parameters are those of ``start(_:room:startedAt:after:now:status:onEvent:)``.
  func resume(
    _ number: UInt64, _ name: String, after sequence: Int, now: UInt64, status: RecorderStatus,
    onEvent: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(RecordingError) -> Bool {
    var (row, segments) = try entry(of: name)
    guard row.state == RecordingState.interrupted.rawValue else { return false }
    row.state = RecordingState.recording.rawValue
    row.endedAt = nil
    sessions[number] = try RecordingSession(
      row: row, after: segments, sequence, directory: directory + "/" + name,
      catalogue: try catalogue(), settings: settings, index: index, now: now, status: status,
      onEvent: onEvent, onProblem: onProblem)
    return true
  }

  /// Creates a directory with this name, or with one derived from it if the name is taken.
  private func makeDirectory(_ wanted: String) throws(RecordingError) -> String {
    var name = wanted
    var attempt = 1
    while true {
      do throws(RecordingError) {
        try Directories.make(directory + "/" + name, on: settings.disk)
        return name
      } catch .file(_, _, EEXIST) where attempt < 10_000 {
        attempt += 1
        name = "\(wanted).\(attempt)"
      }
    }
  }

  /// Begins to copy batches to a recording.
  func follow(_ recorder: RoomRecorder) { copies[recorder.number] = Copy(recorder) }

  /// Drops all later batches of a writer, and ends its recording, because a batch is lost.
  func fail(_ number: UInt64, _ error: RecordingError, recording: UInt64?) {
    log.fail(number, error)
    guard let recording else { return }
    copies[recording]?.removeAll()
    sessions[recording]?.fail(error)
  }

  /// Closes a recording after copying every batch that was posted for it.
  func finish(
    _ number: UInt64, as state: RecordingState, digest: String?, endedAt: Int, now: UInt64
  ) throws(RecordingError) -> RecordingSummary {
    guard sessions[number] != nil else { throw .closing }
    commit(isAwaited: true, now: now)
    copies.removeValue(forKey: number)?.removeAll()
    guard let session = sessions.removeValue(forKey: number) else { throw .closing }
    return session.finish(as: state, digest: digest, endedAt: endedAt)
  }

  /// All recordings that the catalogue holds.
  private func summaries(_ catalogue: Catalogue) throws(RecordingError) -> [RecordingSummary] {
    let segments = Dictionary(grouping: try catalogue.segments(), by: \.recording)
    return try catalogue.recordings().map { RecordingSummary($0, segments[$0.name] ?? []) }
  }

  /// The catalogue's rows for a recording.
  private func entry(
    of name: String
  ) throws(RecordingError) -> (RecordingRow, [SegmentRow]) {
    try query { catalogue throws(RecordingError) in
      guard let row = try catalogue.recording(name) else { throw .noSuchRecording(name) }
      return (row, try catalogue.segments(of: name))
    }
  }

  private func session(of name: String) -> RecordingSession? {
    sessions.values.first { $0.name == name }
  }

  /// The names in the directory of a recording; none if somebody removed it.
  private func names(in directory: String) throws(RecordingError) -> [String] {
    do throws(RecordingError) {
      return try Directories.names(in: directory, on: settings.disk)
    } catch {
      guard error.isMissing else { throw error }
      return []
    }
  }

  /// The files of a recording. Those that should be there and are not are damage, which its readers
  /// find.
  func files(of name: String) throws(RecordingError) -> RecordingFiles {
    let (row, rows) = try entry(of: name)
    let path = directory + "/" + name
    var segments: [RecordingFiles.Segment] = []
    for number in try names(in: path).compactMap(RecordingFiles.number).sorted() {
      let file = RecordingFiles.path(of: number, in: path)
      let row = rows.first { $0.number == number }
      // What is not a file is told by whoever gets to it.
      let (state, _) = try InputFile.state(ofSegment: file, on: settings.disk)
      segments.append(
        RecordingFiles.Segment(
          number: number, path: file, bytes: state.bytes, last: row?.lastAt,
          isShortened: state.bytes < row?.bytes ?? 0, isListed: row != nil,
          isExamined: row?.isExamined(state) == true && row?.isForeign == false))
    }
    // Every recording has a first segment. Of one that cannot be examined, the catalogue knows
    // none.
    let last = max(
      1, rows.last { !$0.isNothing }?.number ?? 0, segments.last?.number ?? 0,
      session(of: name)?.position.segment ?? 0)
    return RecordingFiles(
      name: name, room: row.room, segments: segments, disk: settings.disk, lastNumber: last,
      use: uses.begin(name))
  }

  /// Makes a recording unknown, so that a crash does not bring it back, and returns what it was.
  /// Its files are still to be removed by ``removeFile(ofDeleted:)``.
  func delete(_ name: String) throws(RecordingError) -> RecordingSummary {
    let (row, segments) = try entry(of: name)
    guard session(of: name) == nil, !uses.contains(name) else { throw .inUse(name) }
    let (path, deleted) = (
      directory + "/" + name, DeletedRecording.path(of: name, in: directory)
    )
    // One of the same name may have been deleted before.
    while try DeletedRecording.removeNext(in: deleted, on: settings.disk) {}
    do throws(RecordingError) {
      try Directories.rename(path, to: deleted, on: settings.disk)
      try Directories.sync(directory, on: settings.disk)
    } catch {
      // Somebody else may have removed it.
      guard error.isMissing else {
        try? Directories.rename(deleted, to: path, on: settings.disk)
        throw error
      }
    }
    try catalogue().remove(name)
    index.remove(name)
    return RecordingSummary(row, segments)
  }

  /// Removes a file of a deleted recording; `false` if there is none left, or it cannot be removed.
  func removeFile(ofDeleted name: String) -> Bool {
    do throws(RecordingError) {
      return try DeletedRecording.removeNext(
        in: DeletedRecording.path(of: name, in: directory), on: settings.disk)
    } catch {
      onProblem("deleting recording '\(name)': \(error); the next start tries again")
      return false
    }
  }

  /// Notes damage that a reader found. Returns whether it was not known.
  func note(_ damage: Damage, of name: String) throws(RecordingError) -> Bool {
    var (row, segments) = try entry(of: name)
    let known = row.state
    row.markDamaged(damage)
    index.note(RecordingSummary(row, segments))
    try catalogue().save(row)
    return row.state != known
  }

  /// Notes that a reader found nothing wrong. Returns whether the recording was known as damaged.
  func note(_ whole: RecordingCheck.Whole, of name: String) throws(RecordingError) -> Bool {
    let (known, _) = try entry(of: name)
    guard known.state == RecordingState.damaged.rawValue, session(of: name) == nil else {
      return false
    }
    var rows: [SegmentRow] = []
    for (file, scan) in whole.segments {
      rows.append(
        try RecordingFiles.row(
          name, file.number, file.path, scan.contents, chain: scan.chain,
          previous: scan.header?.previous, on: settings.disk))
    }
    let row = Recovery.row(name, known, rows, whole.segments.map(\.scan))
    guard row.state != RecordingState.damaged.rawValue else { return false }
    index.note(RecordingSummary(row, rows))
    try catalogue().replace(row, rows)
    return true
  }

  func leastRecentlyChecked(before time: Int) throws(RecordingError) -> String? {
    try query { catalogue throws(RecordingError) in
      try catalogue.leastRecentlyChecked(before: time)
    }
  }
}

extension RecordingSummary {
  fileprivate init(_ row: RecordingRow, _ segments: [SegmentRow]) {
    var whole = SegmentContents()
    for segment in segments { whole.append(segment.contents) }
    self.init(
      name: row.name, room: row.room, state: RecordingState(rawValue: row.state) ?? .damaged,
      reason: row.reason, startedAt: row.startedAt, endedAt: row.endedAt,
      events: whole.events, frames: whole.frames,
      bytes: segments.reduce(0) { $0 + $1.bytes },
      durationMs: whole.durationMilliseconds,
      segments: segments.count, digest: row.digest)
  }
}
