package import FileSystem
import Glibc
import Synchronization
package import SystemSupport

/// All recordings in a directory. May be used from any thread.
///
/// The directory is created and scanned when it is first needed, so an unusable state directory
/// makes calls fail rather than the program.
package final class RecordingLibrary: Sendable {
  private let writer: RecordingWriter
  private let index = RecordingIndex()
  private let settings: RecordingSettings
  private let numbers = Atomic<UInt64>(0)
  private let sequence = LogSequence()

  /// - Parameters:
  ///   - log: the directory of the log that all rooms share; by default it is beside `directory`.
  ///   - onProblem: called with a message for each problem that harms no recording.
  package init(
    directory: String, log: String? = nil, settings: RecordingSettings = RecordingSettings(),
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    self.settings = settings
    writer = try RecordingWriter { [index] in
      RecordingStore(
        directory: directory, logDirectory: log ?? directory + ".log", settings: settings,
        progress: $0, index: index, onProblem: onProblem)
    }
  }

  /// Opens the catalogue, and recovers what the previous run left behind.
  package func open() async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in _ = try store.catalogue() }
  }

  /// How many bytes ``open()`` or ``recoverLog()`` still has to read.
  package var bytesToRecover: Int { writer.progress.bytesLeft }

  /// Starts a recording.
  ///
  /// - Parameters:
  ///   - startedAt: milliseconds since 1970.
  ///   - onEvent: called on the writer's thread.
  package func start(
    room: String, startedAt: Int, onEvent: @escaping @Sendable (RecordingEvent) -> Void
  ) async throws(RecordingError) -> RoomRecorder {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let status = RecorderStatus()
    let name = try await writer.perform { [sequence] store throws(RecordingError) in
      try store.start(
        number, room: room, startedAt: startedAt, after: sequence.newest,
        now: MonotonicClock.nanoseconds(), status: status, onEvent: onEvent)
    }
    return RoomRecorder(name: name, number: number, writer: writer, status: status)
  }

  /// Continues a recording that was interrupted when the program ended, in a new segment; `nil` if
  /// the recording has ended in any other way.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``; other errors if the recording cannot be
  ///   written.
  package func resume(
    _ name: String, onEvent: @escaping @Sendable (RecordingEvent) -> Void
  ) async throws(RecordingError) -> RoomRecorder? {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let status = RecorderStatus()
    let isResumed = try await writer.perform { [sequence] store throws(RecordingError) in
      try store.resume(
        number, name, after: sequence.newest, now: MonotonicClock.nanoseconds(), status: status,
        onEvent: onEvent)
    }
    guard isResumed else { return nil }
    return RoomRecorder(name: name, number: number, writer: writer, status: status)
  }

  // MARK: The log of all rooms

  /// Converts what an earlier version left, if there is something. Must be called before anything
  /// of it is read.
  ///
  /// - Parameters:
  ///   - snapshots: of the rooms.
  ///   - read: reads a file of `snapshots` that belongs to a room; `nil` if the room cannot be
  ///     restored from it.
  /// - Returns: what is missing in rooms, for people.
  /// - Throws: why it could not be converted. Nothing is lost by that, unless something is logged
  ///   now.
  package func convertEarlierState(
    of snapshots: StateDirectory,
    read: @escaping @Sendable (_ room: String, _ file: String) -> [UInt8]?
  ) async throws(RecordingError) -> [String] {
    try await writer.perform { store throws(RecordingError) in
      try store.convertEarlierState(of: snapshots, read: read)
    }
  }

  /// Reads what earlier runs left in the log, and cuts off what was being written when the last one
  /// ended. To be called before any room is logged; ``open()`` does it as well, to complete the
  /// recordings.
  package func recoverLog() async throws(RecordingError) -> LogContents {
    try await writer.perform { store throws(RecordingError) in try store.log.recover() }
  }

  /// Makes sure that batches that are logged later have a larger log sequence than this.
  package func noteSequence(_ sequence: Int) { self.sequence.note(sequence) }

  /// A log sequence that no batch has or gets: what relies on it cannot be led to by the log.
  package func unusedSequence() -> Int { sequence.next() }

  /// Lets a room write to the log, until ``LogWriter/end()``.
  ///
  /// - Parameter onFailure: called on the writer's thread if nothing more will be written through
  ///   it.
  package func log(
    _ room: String, onFailure: @escaping @Sendable () -> Void
  ) -> LogWriter {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let status = RecorderStatus()
    writer.submit { $0.log.begin(number, of: room, status: status, onFailure: onFailure) }
    return LogWriter(
      number: number, writer: writer, settings: settings, status: status, sequence: sequence)
  }

  /// Notes that a room is open. Until ``forget(_:)``, whatever is in the log behind its newest two
  /// snapshots stays there.
  ///
  /// - Parameter onSnapshotDue: called with the room, on the writer's thread, when a snapshot would
  ///   let the log be cut.
  package func keep(_ room: String, onSnapshotDue: @escaping @Sendable (String) -> Void) {
    writer.submit { $0.log.enter(room, onSnapshotDue: onSnapshotDue) }
  }

  /// Notes that nothing of a room is needed any more.
  package func forget(_ room: String) { writer.submit { $0.log.forget(room) } }

  /// Notes that a snapshot of everything that a room has handed over is being written;
  /// ``noteSaved(_:isWritten:)`` must follow.
  package func noteSaving(_ room: String) { writer.submit { $0.log.noteSaving(room) } }

  package func noteSaved(_ room: String, isWritten: Bool) {
    writer.submit { $0.log.noteSaved(room, isWritten: isWritten) }
  }

  // MARK: Recordings

  /// All recordings, oldest first, including those being written.
  package func list() async throws(RecordingError) -> [RecordingSummary] {
    try await page(limit: .max).recordings
  }

  /// The newest recordings, without a visit to the writer's thread once the library is open.
  ///
  /// - Parameters:
  ///   - room: only those of this room; `nil` for all rooms.
  ///   - before: only those that are older than the recording of this name. If there is none of
  ///     this
  ///     name, there are no older ones.
  ///   - limit: how many at most.
  package func page(
    room: String? = nil, before: String? = nil, limit: Int
  ) async throws(RecordingError) -> RecordingPage {
    if let page = index.page(room: room, before: before, limit: limit) { return page }
    try await open()
    return index.page(room: room, before: before, limit: limit) ?? RecordingPage()
  }

  /// Returns once the writer has done all that it was given so far, and told who waited for it, or
  /// has ended.
  package func settle() async {
    try? await writer.perform { $0.commit(now: MonotonicClock.nanoseconds()) }
  }

  /// The files of a recording, for reading it.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``.
  package func files(of name: String) async throws(RecordingError) -> RecordingFiles {
    try await writer.perform { store throws(RecordingError) in try store.files(of: name) }
  }

  /// Deletes a recording and returns what it was. A crash leaves all of it or nothing.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``; ``RecordingError/inUse(_:)`` if it is being
  ///   written or read; other errors, which leave it as it is.
  package func delete(_ name: String) async throws(RecordingError) -> RecordingSummary {
    let deleted = try await writer.perform { store throws(RecordingError) in
      try store.delete(name)
    }
    // File by file: what rooms write comes in between.
    while (try? await writer.perform { $0.removeFile(ofDeleted: name) }) == true {}
    return deleted
  }

  /// Notes in the catalogue the damage that a reader found. Returns whether it was not known.
  package func note(_ damage: Damage, of name: String) async throws(RecordingError) -> Bool {
    try await writer.perform { store throws(RecordingError) in
      try store.note(damage, of: name)
    }
  }

  /// Notes in the catalogue that a reader found nothing wrong. Returns whether the recording was
  /// known as damaged, and no longer is.
  package func note(
    _ whole: RecordingCheck.Whole, of name: String
  ) async throws(RecordingError) -> Bool {
    try await writer.perform { store throws(RecordingError) in
      try store.note(whole, of: name)
    }
  }

  /// How many recordings are known to be damaged; 0 until the library is open.
  package var damagedCount: Int { index.damagedCount }

  /// Why the log cannot be written at present.
  package var logFailure: PresentFailure? { index.logFailure }

  /// The undamaged recording that was checked longest ago, or made if it never was; `nil` if that
  /// is true of none before `time`, in milliseconds since 1970.
  package func leastRecentlyChecked(before time: Int) async throws(RecordingError) -> String? {
    try await writer.perform { store throws(RecordingError) in
      try store.leastRecentlyChecked(before: time)
    }
  }

  /// Notes in the catalogue when a recording was read to find damage, in milliseconds since 1970.
  package func noteChecked(_ name: String, at time: Int) async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in
      try store.catalogue().noteChecked(name, at: time)
    }
  }

  /// How many steps of all recordings are waiting for the disk.
  package var waitingSteps: Int { writer.load.steps }

  /// Calls `body` soon on the writer's thread; not while the disk holds it.
  package func ping(_ body: @escaping @Sendable () -> Void) { writer.ping(body) }

  /// Ends the writer once it has done everything it was given. Recordings that were not stopped
  /// count as interrupted at the next start.
  package func close() { writer.close() }
}

/// How recordings are written.
package struct RecordingSettings: Sendable {
  /// A segment that has reached this size in bytes is closed.
  package var segmentBytes = 32 << 20
  /// A segment that has reached this age in nanoseconds is closed.
  package var segmentNanoseconds: UInt64 = 900_000_000_000
  /// How long bytes of the log may stay unsynced while nothing is waiting for them, in nanoseconds.
  package var syncNanoseconds: UInt64 = 250_000_000
  /// The same of a recording, which the log can complete.
  package var recordingSyncNanoseconds: UInt64 = 5_000_000_000
  /// Senders are held back while more steps than this of their room are waiting for the disk, ...
  package var highWater = 65_536
  /// ... or steps of all rooms that came in more bytes than this.
  package var highWaterBytes = 32 << 20
  /// What a room does is lost if more of its steps than this are waiting for the disk.
  package var maximumWaiting = 2_000_000
  /// Where the segments are.
  package var disk: any Disk = SystemDisk()
  /// Where SQLite keeps the catalogue, which is never on ``disk``: by default in the directory of
  /// the recordings. With a simulated disk it is a temporary file, or `:memory:`.
  package var cataloguePath: String?

  package init() {}
}

/// Why a recording could not be started, continued or read.
package enum RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A system call failed; `code` is its `errno`.
  case file(operation: String, path: String, code: Int32)
  /// The catalogue could not be read or written.
  case catalogue(String)
  /// Another program holds the catalogue.
  case catalogueBusy
  /// Too many events are waiting for the disk.
  case diskTooSlow
  case noSuchRecording(String)
  /// The recording is being written or read, so it cannot be deleted.
  case inUse(String)
  /// The state of an unrecorded room could not be written, or the room was closed.
  case notKept
  /// A segment differs from what was written: a checksum does not match, or it contains a malformed
  /// line.
  case damaged(recording: String, Damage)
  /// The checksum in a file of a ``StateDirectory`` does not match.
  case rotten(path: String)
  case tooLarge(path: String, bytes: Int)
  /// The recordings are being closed because the program is ending.
  case closing

  /// A call on a file or a directory failed.
  init(_ error: SystemError, _ path: String) {
    self = .file(operation: error.operation.name, path: path, code: error.code)
  }

  /// Makes a call on a file or a directory.
  static func naming<R>(
    _ path: String, _ call: () throws(SystemError) -> R
  ) throws(RecordingError) -> R {
    do throws(SystemError) { return try call() } catch { throw RecordingError(error, path) }
  }

  /// Whether there is no such file.
  package var isMissing: Bool {
    if case .file(_, _, code: ENOENT) = self { true } else { false }
  }

  package var description: String {
    switch self {
    case .file(let operation, let path, let code):
      "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    case .catalogue(let problem): "the catalogue of recordings: \(problem)"
    case .catalogueBusy: "the catalogue of recordings is locked by another program"
    case .diskTooSlow: "the disk cannot keep up with the events"
    case .notKept: "the state of the room cannot be saved for the next start"
    case .noSuchRecording(let name): "there is no recording '\(name)'"
    case .inUse(let name): "the recording '\(name)' is being written or read"
    case .damaged(let recording, let damage): "recording '\(recording)': \(damage)"
    case .rotten(let path): "\(path) is damaged: its checksum does not match"
    case .tooLarge(let path, let bytes): "\(path) has \(bytes) bytes, more than the limit"
    case .closing: "the recordings are being closed"
    }
  }
}
