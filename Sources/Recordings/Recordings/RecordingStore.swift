import FileSystem
import Glibc
import LiveEvents

/// The log, the catalogue, and the recordings being written. Belongs to the writer's thread.
///
/// It is the follower of the log: it lets recordings gather the lines of batches, and write them
/// once the log has synced them.
final class RecordingStore {
  let directory: String
  private let logDirectory: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let index: RecordingIndex
  private let onProblem: @Sendable (String) -> Void
  /// A catalogue that is used instead of the one in the directory.
  private let given: Catalogue?
  private var opened: Catalogue?
  private var sessions: [UInt64: RecordingSession] = [:]
  private let uses = RecordingUses()
  /// The write-ahead log.
  let log: LogSession

  /// - Parameter catalogue: a catalogue that is used instead of the one in the directory. Fuzzers
  ///   share one, because opening a catalogue takes longer than recovering a small recording.
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
      sessions.values.lazy.compactMap(\.neededSegment).min()
    }
    // A recording must not contain batches that the log lacks.
    log.onFailure = { [unowned self] error in
      for session in sessions.values { session.fail(error) }
    }
  }

  // MARK: Group commit

  /// Appends a batch to the log. If the room is being recorded, the recording gathers its lines.
  ///
  /// - Parameter number: the number of the room's ``LogWriter``.
  func append(_ batch: RecordedBatch, of number: UInt64, now: UInt64) {
    let session = batch.recorder.flatMap { sessions[$0.number] }
    let segment = log.append(batch, of: number, copy: session?.copy, now: now)
    if let session, session.copy != nil, let segment {
      session.addGathered(batch.stepCount, inLog: segment)
    } else {
      batch.recorder?.removeWaiting(batch.stepCount)
    }
  }

  /// The number of gathered bytes of all recordings at which the log is synced early, so that they
  /// can be written. With smaller values, the log is synced so often that recorded rooms become
  /// slower.
  private static let mostGathered = 16 << 20

  func commit(now: UInt64) { commit(isAwaited: false, now: now) }

  private func commit(isAwaited: Bool, now: UInt64) {
    let isFull = sessions.values.reduce(0) { $0 + $1.gatheredBytes } >= Self.mostGathered
    let mustSync =
      isFull || sessions.values.contains { $0.writeDeadline.map { $0 <= now } ?? false }
    log.commit(isAwaited: isAwaited || mustSync, now: now)
    for session in sessions.values
    where session.gatheredBytes > 0 || session.deadline.map({ $0 <= now }) ?? false {
      // Otherwise, after a power failure, a recording could contain steps that its room has lost.
      if log.isSynced { session.commit(now: now) } else { session.reportProgress(now) }
    }
  }

  func isDue(_ now: UInt64) -> Bool { deadline.map { $0 <= now } ?? false }

  var deadline: UInt64? {
    [log.deadline, sessions.values.compactMap(\.deadline).min()].compactMap(\.self).min()
  }

  // MARK: Recordings

  /// Returns the catalogue. The first call makes it agree with the files.
  func catalogue() throws(RecordingError) -> Catalogue {
    if let opened, !opened.isDamaged { return opened }
    try Directories.create(directory, on: settings.disk)
    if let opened {
      try rebuild(opened, because: .catalogue("it was changed by another program"))
      return opened
    }
    // An unreadable log is reported when rooms are restored.
    return try open(completedBy: try? log.recover())
  }

  /// Opens the catalogue, and makes it agree with the files.
  private func open(completedBy log: LogContents?) throws(RecordingError) -> Catalogue {
    let catalogue = try openCatalogue()
    try Recovery(
      directory: directory, catalogue: catalogue, log: log, progress: progress,
      disk: settings.disk, onProblem: onProblem
    ).run()
    self.log.markRecordingsComplete()
    try index.load(summaries(catalogue))
    opened = catalogue
    return catalogue
  }

  /// Converts the state of an earlier version, see ``EarlierState``. Must be called before anything
  /// else.
  ///
  /// - Returns: messages about everything that rooms have lost.
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

  /// Queries the catalogue. A damaged catalogue is rebuilt and queried again.
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
    let writing = Dictionary(
      sessions.values.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    try Recovery(
      directory: directory, catalogue: catalogue, writing: writing, progress: progress,
      disk: settings.disk, onProblem: onProblem
    ).run()
    try index.load(summaries(catalogue))
  }

  /// Starts a recording and returns its name.
  ///
  /// - Parameters:
  ///   - number: the number of its ``RoomRecorder``.
  ///   - sequence: a log sequence less than that of the first batch that will be copied.
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
      // The directory is empty. It is removed, so that repeated failures do not leave many
      // directories.
      let path = directory + "/" + name
      while (try? DeletedRecording.removeNext(in: path, on: settings.disk)) == true {}
      throw error
    }
    return name
  }

  /// Continues an interrupted recording. Returns `false` if it ended in any other way. The
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

  /// Creates a directory with this name or, if it exists, with a name derived from it.
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

  /// Drops all later batches of a writer because one is lost, and ends the recording as failed.
  func fail(_ number: UInt64, _ error: RecordingError, recording: UInt64?) {
    log.fail(number, error)
    if let recording { sessions[recording]?.fail(error) }
  }

  /// Closes a recording after all batches posted for it were copied.
  func finish(
    _ number: UInt64, as state: RecordingState, digest: String?, endedAt: Int, now: UInt64
  ) throws(RecordingError) -> RecordingSummary {
    commit(isAwaited: true, now: now)
    guard let session = sessions.removeValue(forKey: number) else { throw .closing }
    return session.finish(as: state, digest: digest, endedAt: endedAt)
  }

  /// Returns all recordings in the catalogue.
  private func summaries(_ catalogue: Catalogue) throws(RecordingError) -> [RecordingSummary] {
    let segments = Dictionary(grouping: try catalogue.segments(), by: \.recording)
    return try catalogue.recordings().map { RecordingSummary($0, segments[$0.name] ?? []) }
  }

  /// Returns the catalogue's rows for a recording.
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

  /// Returns the segments in the directory of a recording; none if the directory was removed.
  private func entries(in directory: String) throws(RecordingError) -> [RecordingFiles.Entry] {
    do throws(RecordingError) {
      return try RecordingFiles.entries(in: directory, on: settings.disk)
    } catch {
      guard error.isMissing else { throw error }
      return []
    }
  }

  /// Returns the files of a recording. If segments are missing, the reader reports the damage.
  func files(of name: String) throws(RecordingError) -> RecordingFiles {
    let (row, rows) = try entry(of: name)
    // A file that cannot be read is reported by the reader.
    let segments = try entries(in: directory + "/" + name).map { file in
      let row = rows.first { $0.number == file.number }
      return RecordingFiles.Segment(
        number: file.number, path: file.path, bytes: file.state.bytes, last: row?.lastAt,
        isShortened: file.state.bytes < row?.bytes ?? 0, isListed: row != nil,
        isExamined: row?.isExamined(file.state) == true && row?.isForeign == false)
    }
    // Every recording has a first segment, even if the catalogue has none because it could not be
    // examined.
    let last = max(
      1, rows.last { !$0.isNothing }?.number ?? 0, segments.last?.number ?? 0,
      session(of: name)?.segment ?? 0)
    return RecordingFiles(
      name: name, room: row.room, segments: segments, disk: settings.disk, lastNumber: last,
      use: uses.begin(name))
  }

  /// Removes a recording from the list and from the catalogue, and returns its summary. A crash
  /// does not restore the recording. Its files must then be removed by ``removeFile(ofDeleted:)``.
  func delete(_ name: String) throws(RecordingError) -> RecordingSummary {
    let (row, segments) = try entry(of: name)
    guard session(of: name) == nil, !uses.contains(name) else { throw .inUse(name) }
    let (path, deleted) = (
      directory + "/" + name, DeletedRecording.path(of: name, in: directory)
    )
    // A recording with the same name may have been deleted before.
    while try DeletedRecording.removeNext(in: deleted, on: settings.disk) {}
    do throws(RecordingError) {
      try Directories.rename(path, to: deleted, on: settings.disk)
      try Directories.sync(directory, on: settings.disk)
    } catch {
      // The directory may have been removed by another program.
      guard error.isMissing else {
        try? Directories.rename(deleted, to: path, on: settings.disk)
        throw error
      }
    }
    try catalogue().remove(name)
    index.remove(name)
    return RecordingSummary(row, segments)
  }

  /// Removes a file of a deleted recording. Returns `false` if none is left, or if it cannot be
  /// removed.
  func removeFile(ofDeleted name: String) -> Bool {
    do throws(RecordingError) {
      return try DeletedRecording.removeNext(
        in: DeletedRecording.path(of: name, in: directory), on: settings.disk)
    } catch {
      onProblem("deleting recording '\(name)': \(error); the next start tries again")
      return false
    }
  }

  /// Records damage that a reader found. Returns whether the recording was undamaged before.
  func note(_ damage: Damage, of name: String) throws(RecordingError) -> Bool {
    var (row, segments) = try entry(of: name)
    let known = row.state
    row.markDamaged(damage)
    index.enter(RecordingSummary(row, segments))
    try catalogue().save(row)
    return row.state != known
  }

  /// Records that a reader found no damage. Returns whether the recording was damaged before.
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
    let row = RecordingRow.recovered(name, known, rows, whole.segments.map(\.scan))
    guard row.state != RecordingState.damaged.rawValue else { return false }
    index.enter(RecordingSummary(row, rows))
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
