import Synchronization
package import Systemd

/// All recordings below a directory. May be used from any thread.
///
/// The directory is made and looked through when it is first needed; a state directory that cannot
/// be used is an error of the calls, not of the program.
package final class RecordingLibrary: Sendable {
  private let writer: RecordingWriter
  private let settings: RecordingSettings
  private let numbers = Atomic<UInt64>(0)

  /// - Parameter onProblem: told of what went wrong and harms no recording.
  package init(
    directory: String, settings: RecordingSettings = RecordingSettings(),
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemdError) {
    self.settings = settings
    writer = try RecordingWriter {
      Shelf(directory: directory, settings: settings, onProblem: onProblem)
    }
  }

  /// Opens the catalogue, and recovers what the last run left.
  package func open() async throws(RecordingError) {
    try await writer.perform { shelf throws(RecordingError) in _ = try shelf.catalogue() }
  }

  /// Begins a recording.
  ///
  /// - Parameters:
  ///   - startedAt: milliseconds since 1970.
  ///   - onNews: called on the writer's thread.
  package func start(
    room: String, startedAt: Int, onNews: @escaping @Sendable (RecorderNews) -> Void
  ) async throws(RecordingError) -> RoomRecorder {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let fate = RecorderFate()
    let name = try await writer.perform { shelf throws(RecordingError) in
      try shelf.start(
        number, room: room, startedAt: startedAt, now: MonotonicClock.nanoseconds(), fate: fate,
        onNews: onNews)
    }
    return RoomRecorder(name: name, number: number, writer: writer, settings: settings, fate: fate)
  }

  /// Goes on with a recording that the program's end interrupted, in a new segment; `nil` if somebody
  /// ended it.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``; or why it cannot be written.
  package func resume(
    _ name: String, onNews: @escaping @Sendable (RecorderNews) -> Void
  ) async throws(RecordingError) -> RoomRecorder? {
    let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let fate = RecorderFate()
    let isResumed = try await writer.perform { shelf throws(RecordingError) in
      try shelf.resume(
        number, name, now: MonotonicClock.nanoseconds(), fate: fate, onNews: onNews)
    }
    guard isResumed else { return nil }
    return RoomRecorder(name: name, number: number, writer: writer, settings: settings, fate: fate)
  }

  /// Oldest first, those that are being written included.
  package func list() async throws(RecordingError) -> [RecordingSummary] {
    try await writer.perform { shelf throws(RecordingError) in try shelf.summaries() }
  }

  /// For reading.
  ///
  /// - Throws: ``RecordingError/noSuchRecording(_:)``.
  package func files(of name: String) async throws(RecordingError) -> RecordingFiles {
    try await writer.perform { shelf throws(RecordingError) in try shelf.files(of: name) }
  }

  /// Has the catalogue tell of the damage that a reader found.
  package func noteDamage(_ name: String, segment: Int) async throws(RecordingError) {
    try await writer.perform { shelf throws(RecordingError) in
      try shelf.noteDamage(name, segment: segment)
    }
  }

  /// How many events wait for the disk, of all recordings.
  package var waitingEvents: Int { writer.load.events }

  /// Ends the writer once all that it was given is done. Recordings that were not stopped count as
  /// interrupted at the next start.
  package func close() { writer.close() }
}

/// The room's end of a recording. May be used from any thread.
package final class RoomRecorder: Sendable {
  package let name: String
  private let number: UInt64
  private let writer: RecordingWriter
  private let settings: RecordingSettings
  private let load: RecorderLoad
  private let fate: RecorderFate

  init(
    name: String, number: UInt64, writer: RecordingWriter, settings: RecordingSettings,
    fate: RecorderFate
  ) {
    self.name = name
    self.number = number
    self.writer = writer
    self.settings = settings
    load = RecorderLoad(of: writer.load)
    self.fate = fate
  }

  /// Why something that was handed over is not on disk and never will be; `nil` while all of it is, or
  /// still may be.
  package var failure: RecordingError? { fate.failure }

  /// Whether so much waits for the disk that senders should wait too.
  package var isBehind: Bool { load.events > settings.highWater }

  /// Hands over what the room did. Never blocks; costs the same for any number of events.
  package func post(_ batch: RecordedBatch) {
    // Behind something that is lost nothing may stand.
    if fate.failure != nil {
      for completion in batch.completions { completion() }
      return
    }
    guard load.handOver(batch.eventCount) <= settings.maximumWaiting else { return overrun(batch) }
    writer.post(batch, to: number, load)
  }

  /// The disk stands still and memory is not endless: this batch is lost, and with it the recording.
  private func overrun(_ batch: RecordedBatch) {
    load.written(batch.eventCount)
    // First, so that nobody who waits takes this or a later batch for written.
    let isFirst = fate.fail(.diskTooSlow)
    for completion in batch.completions { completion() }
    guard isFirst else { return }
    Task { [writer, number] in
      try? await writer.perform { $0.fail(number, .diskTooSlow) }
    }
  }

  /// Ends the recording, once all that was handed over is written.
  ///
  /// - Parameters:
  ///   - digest: of the room's state, if the recording holds all that led to it.
  ///   - endedAt: milliseconds since 1970.
  package func finish(
    digest: String?, endedAt: Int
  ) async throws(RecordingError) -> RecordingSummary {
    try await writer.perform { [number] shelf throws(RecordingError) in
      try shelf.finish(number, as: .finished, digest: digest, endedAt: endedAt)
    }
  }

  /// Closes the recording, once all that was handed over is written, to go on with it later by
  /// ``RecordingLibrary/resume(_:onNews:)``.
  ///
  /// - Parameter endedAt: milliseconds since 1970.
  package func interrupt(endedAt: Int) async throws(RecordingError) {
    try await writer.perform { [number] shelf throws(RecordingError) in
      _ = try shelf.finish(number, as: .interrupted, digest: nil, endedAt: endedAt)
    }
  }
}

/// Whether a recording holds all that was handed over. May be used from any thread.
final class RecorderFate: Sendable {
  private let reason = Mutex<RecordingError?>(nil)

  init() {}

  var failure: RecordingError? { reason.withLock { $0 } }

  /// Notes that something is lost; `false` if that was known already. The first reason stays.
  @discardableResult
  func fail(_ error: RecordingError) -> Bool {
    reason.withLock { reason in
      if reason != nil { return false }
      reason = error
      return true
    }
  }
}
