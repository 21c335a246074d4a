import Glibc
package import Platform
import Synchronization

/// All recordings in a directory. May be used from any thread.
///
/// The directory is created and scanned when it is first needed, so an unusable state directory
/// makes calls fail rather than the program.
package final class RecordingLibrary: Sendable {
  private let writer: RecordingWriter
  private let index = RecordingIndex()
  private let settings: RecordingSettings
  private let numbers = Atomic<UInt64>(0)

  /// - Parameter onProblem: called with a message for each problem that harms no recording.
  package init(
    directory: String, settings: RecordingSettings = RecordingSettings(),
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    self.settings = settings
    writer = try RecordingWriter(disk: settings.disk) { [index] in
      RecordingStore(
        directory: directory, settings: settings, progress: $0, index: index,
        onProblem: onProblem)
    }
  }

  /// Opens the catalogue, and recovers what the previous run left behind.
  package func open() async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in _ = try store.catalogue() }
  }

  /// How many bytes ``open()`` still has to read.
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
    let name = try await writer.perform { store throws(RecordingError) in
      try store.start(
        number, room: room, startedAt: startedAt, now: MonotonicClock.nanoseconds(), status: status,
        onEvent: onEvent)
    }
    return RoomRecorder(
      name: name, number: number, writer: writer, settings: settings, status: status)
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
    let isResumed = try await writer.perform { store throws(RecordingError) in
      try store.resume(
        number, name, now: MonotonicClock.nanoseconds(), status: status, onEvent: onEvent)
    }
    guard isResumed else { return nil }
    return RoomRecorder(
      name: name, number: number, writer: writer, settings: settings, status: status)
  }

  /// All recordings, oldest first, including those being written.
  package func list() async throws(RecordingError) -> [RecordingSummary] {
    try await page(limit: .max).recordings
  }

  /// The newest recordings, without a visit to the writer's thread once the library is open.
  ///
  /// - Parameters:
  ///   - room: only those of this room; `nil` for all rooms.
  ///   - before: only those that are older than the recording of this name. If there is none of this
  ///     name, there are no older ones.
  ///   - limit: how many at most.
  package func page(
    room: String? = nil, before: String? = nil, limit: Int
  ) async throws(RecordingError) -> RecordingPage {
    if let page = index.page(room: room, before: before, limit: limit) { return page }
    try await open()
    return index.page(room: room, before: before, limit: limit) ?? RecordingPage()
  }

  /// Returns once the writer has done all that it was given so far, or has ended.
  package func settle() async { try? await writer.perform { _ in } }

  /// The files of a recording, for reading it.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``.
  package func files(of name: String) async throws(RecordingError) -> RecordingFiles {
    try await writer.perform { store throws(RecordingError) in try store.files(of: name) }
  }

  /// Notes in the catalogue the damage that a reader found.
  package func noteDamage(_ name: String, segment: Int) async throws(RecordingError) {
    try await writer.perform { store throws(RecordingError) in
      try store.noteDamage(name, segment: segment)
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
  /// How long written bytes may stay unsynced while nothing is waiting for them, in nanoseconds.
  package var syncNanoseconds: UInt64 = 250_000_000
  /// Senders are held back while more steps than this of their room are waiting for the disk, ...
  package var highWater = 65_536
  /// ... or steps of all rooms that came in more bytes than this.
  package var highWaterBytes = 32 << 20
  /// A recording fails if more steps than this are waiting for the disk.
  package var maximumWaiting = 2_000_000
  package var disk = Disk()

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
  /// The state of an unrecorded room could not be written, or the room was closed.
  case notKept
  /// A segment differs from what was written: its checksum does not match, or it contains a
  /// malformed line.
  case damaged(recording: String, segment: Int)
  /// The recordings are being closed because the program is ending.
  case closing

  package var description: String {
    switch self {
    case .file(let operation, let path, let code):
      "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    case .catalogue(let problem): "the catalogue of recordings: \(problem)"
    case .catalogueBusy: "the catalogue of recordings is locked by another program"
    case .diskTooSlow: "the disk cannot keep up with the events"
    case .notKept: "the state of the room is not kept for the next start"
    case .noSuchRecording(let name): "there is no recording '\(name)'"
    case .damaged(let recording, let segment):
      "segment \(segment) of recording '\(recording)' is damaged"
    case .closing: "the recordings are being closed"
    }
  }
}
