import Synchronization
package import SystemSupport

/// The write-ahead log and all recordings of a state directory. May be used from any thread.
///
/// The directories are created and read when they are first needed. If the directories are
/// unusable, calls fail and the program continues.
package final class RecordingLibrary: Sendable {
  private let writer: RecordingWriter
  private let index = RecordingIndex()
  private let settings: RecordingSettings
  private let numbers = Atomic<UInt64>(0)
  private let sequence = LogSequence()

  /// - Parameters:
  ///   - log: the directory of the write-ahead log; by default it is beside `directory`.
  ///   - onProblem: called with a message for each problem that the library can work around.
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

  /// Opens the catalogue, and recovers the recordings that earlier runs did not close.
  package func open() async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in _ = try store.catalogue() }
  }

  /// The number of bytes that ``open()`` or ``recoverLog()`` still has to read.
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

  /// Continues a recording that was interrupted by the end of the program, in a new segment.
  /// Returns `nil` if the recording ended in any other way.
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

  // MARK: The write-ahead log

  /// Converts the state of an earlier version, if there is any. Must be called before anything is
  /// read.
  ///
  /// - Parameters:
  ///   - snapshots: the directory with the snapshots of rooms.
  ///   - read: returns the contents of a file in `snapshots`; `nil` if its room cannot be restored
  ///     from it.
  /// - Returns: messages about everything that rooms have lost.
  /// - Throws: why the conversion failed. Nothing is lost as long as nothing is written to the log.
  package func convertEarlierState(
    of snapshots: StateDirectory,
    read: @escaping @Sendable (_ room: String, _ file: String) -> [UInt8]?
  ) async throws(RecordingError) -> [String] {
    try await writer.perform { store throws(RecordingError) in
      try store.convertEarlierState(of: snapshots, read: read)
    }
  }

  /// Reads the log of earlier runs, and cuts off its incomplete end. Must be called before anything
  /// is written to the log. ``open()`` also does it, to complete the recordings.
  package func recoverLog() async throws(RecordingError) -> LogContents {
    try await writer.perform { store throws(RecordingError) in try store.log.recover() }
  }

  /// Ensures that later batches have a larger log sequence than `sequence`.
  package func noteSequence(_ sequence: Int) { self.sequence.advance(past: sequence) }

  /// Returns a log sequence that no batch will have. The log cannot continue a snapshot with this
  /// sequence.
  package func unusedSequence() -> Int { sequence.next() }

  /// Returns a writer for a room, to be ended by ``LogWriter/end()``.
  ///
  /// - Parameter onFailure: called on the writer's thread when a batch is lost, so that all later
  ///   ones are dropped.
  package func log(
    _ room: String, onFailure: @escaping @Sendable () -> Void
  ) -> LogWriter {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let status = RecorderStatus()
    writer.submit { $0.log.begin(number, of: room, status: status, onFailure: onFailure) }
    return LogWriter(
      number: number, writer: writer, settings: settings, status: status, sequence: sequence)
  }

  /// Keeps the batches of a room after the older of its two snapshots in the log, until
  /// ``forget(_:)``.
  ///
  /// - Parameter onSnapshotDue: called with the room, on the writer's thread, when a snapshot would
  ///   let the log be cut.
  package func keep(_ room: String, onSnapshotDue: @escaping @Sendable (String) -> Void) {
    writer.submit { $0.log.enter(room, onSnapshotDue: onSnapshotDue) }
  }

  /// Releases the batches of a closed room.
  package func forget(_ room: String) { writer.submit { $0.log.forget(room) } }

  /// Records that a snapshot with all posted batches of a room is being written. A call of
  /// ``noteSaved(_:isWritten:)`` must follow.
  package func noteSaving(_ room: String) { writer.submit { $0.log.beginSaving(room) } }

  /// Records that the snapshot of a room is on disk, or could not be written.
  package func noteSaved(_ room: String, isWritten: Bool) {
    writer.submit { $0.log.endSaving(room, isWritten: isWritten) }
  }

  // MARK: Recordings

  /// Returns all recordings, oldest first, including those being written.
  package func list() async throws(RecordingError) -> [RecordingSummary] {
    try await page(limit: .max).recordings
  }

  /// Returns the newest recordings. Does not wait for the writer's thread once the library is open.
  ///
  /// - Parameters:
  ///   - room: the room whose recordings are returned; `nil` for all rooms.
  ///   - before: the name of a recording; only older ones are returned. If it does not exist, none
  ///     are.
  ///   - limit: the largest number of recordings.
  package func page(
    room: String? = nil, before: String? = nil, limit: Int
  ) async throws(RecordingError) -> RecordingPage {
    if let page = index.page(room: room, before: before, limit: limit) { return page }
    try await open()
    return index.page(room: room, before: before, limit: limit) ?? RecordingPage()
  }

  /// Returns once the writer has done everything posted so far and called the completions, or has
  /// ended.
  package func settle() async {
    try? await writer.perform { $0.commit(now: MonotonicClock.nanoseconds()) }
  }

  /// Returns the files of a recording, for reading it.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``.
  package func files(of name: String) async throws(RecordingError) -> RecordingFiles {
    try await writer.perform { store throws(RecordingError) in try store.files(of: name) }
  }

  /// Deletes a recording and returns its summary. After a crash, the recording is complete or
  /// deleted.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``; ``RecordingError/inUse(_:)`` if it is being
  ///   written or read; other errors, after which the recording is unchanged.
  package func delete(_ name: String) async throws(RecordingError) -> RecordingSummary {
    let deleted = try await writer.perform { store throws(RecordingError) in
      try store.delete(name)
    }
    // Each command removes only one file, so that batches are written in between.
    while (try? await writer.perform { $0.removeFile(ofDeleted: name) }) == true {}
    return deleted
  }

  /// Records damage that a reader found. Returns whether the recording was undamaged before.
  package func note(_ damage: Damage, of name: String) async throws(RecordingError) -> Bool {
    try await writer.perform { store throws(RecordingError) in
      try store.note(damage, of: name)
    }
  }

  /// Records that a reader found no damage. Returns whether the recording was damaged before.
  package func note(
    _ whole: RecordingCheck.Whole, of name: String
  ) async throws(RecordingError) -> Bool {
    try await writer.perform { store throws(RecordingError) in
      try store.note(whole, of: name)
    }
  }

  /// The number of damaged recordings; 0 until the library is open.
  package var damagedCount: Int { index.damagedCount }

  /// Why the write-ahead log cannot be written at present.
  package var logFailure: PresentFailure? { index.logFailure }

  /// Returns the undamaged recording that was verified longest ago; `nil` if that was not before
  /// `time`, in milliseconds since 1970. A recording that was never verified counts as verified at
  /// its start.
  package func leastRecentlyChecked(before time: Int) async throws(RecordingError) -> String? {
    try await writer.perform { store throws(RecordingError) in
      try store.leastRecentlyChecked(before: time)
    }
  }

  /// Records when a recording was verified, in milliseconds since 1970.
  package func noteChecked(_ name: String, at time: Int) async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in
      try store.catalogue().noteChecked(name, at: time)
    }
  }

  /// The number of steps of all rooms that are waiting for the disk.
  package var waitingSteps: Int { writer.load.steps }

  /// Calls `body` on the writer's thread as soon as it is not waiting for the disk.
  package func ping(_ body: @escaping @Sendable () -> Void) { writer.ping(body) }

  /// Ends the writer after it has done everything posted before. Recordings that were not closed
  /// are interrupted at the next start.
  package func close() { writer.close() }
}
