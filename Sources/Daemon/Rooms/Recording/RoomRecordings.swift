package import ControlInterface
package import LiveEvents
import Locking
package import Logging
import NIOCore
import RecorderFeature
package import Recordings
package import SystemSupport
package import Systemd

/// Makes, lists and deletes the recordings of rooms, and logs their starts, ends and failures.
package final class RoomRecordings: Sendable {
  let library: RecordingLibrary
  let logger: Logger
  /// The rooms with an open recorder, each with the closures that wait until this recorder is
  /// closed.
  private let active = Guarded<[RoomName: [@Sendable () -> Void]]>([:])
  private let failed = Guarded<[RoomName: PresentFailure]>([:])
  private let isSilent = Guarded(false)
  private let endObserver = Guarded<(@Sendable () -> Void)?>(nil)

  /// Calls `body` whenever a recording has ended.
  package func onEnd(_ body: @escaping @Sendable () -> Void) { endObserver.withLock { $0 = body } }

  /// The rooms whose last recording failed, until they record again or are closed.
  package var failures: [RoomName: PresentFailure] { failed.withLock { $0 } }

  /// Forgets that the recording of a room failed, because the room is closed.
  package func forgetFailure(of room: RoomName) { failed.withLock { $0[room] = nil } }

  package init(library: RecordingLibrary, logger: Logger) {
    self.library = library
    self.logger = logger
  }

  /// The name by which the watchdog knows the thread that writes recordings.
  package static let thread = "recorder"

  /// Receives the threads that the watchdog found to make no progress. Informs the rooms if the
  /// recorder's thread stalls or recovers.
  package func note(stalled threads: [WatchdogDriver.SilentThread], on lanes: [HostLane]) {
    let isSilent = threads.contains { $0.name == Self.thread }
    guard self.isSilent.withLock({ exchange(&$0, with: isSilent) }) != isSilent else { return }
    for lane in lanes { lane.postDisk(answers: !isSilent) }
  }

  /// Recovers the recordings that the last run did not close. If recordings cannot be made, logs
  /// the reason.
  package func open() async {
    do throws(RecordingError) {
      try await library.open()
    } catch {
      logger.warning("recordings cannot be made: \(error.description)")
    }
  }

  /// The number of bytes that ``open()`` still has to read.
  package var bytesToRecover: Int { library.bytesToRecover }

  /// Ends the recording of a closed room after all of it is on disk.
  func roomClosed(_ room: RoomName, _ recording: OwnRecorder.EndedRecording) {
    switch recording {
    case .written(let recorder, let digest):
      finish(room) { [self] () throws(RecordingError) in
        _ = try await end(room, recorder, digest: digest)
        if let failure = recorder.failure { throw failure }
      }
    case .open(let name):
      enter(room) { [self] in
        finish(room) { [self] () throws(RecordingError) in _ = try await close(name, of: room) }
      }
    }
  }

  private func finish(
    _ room: RoomName, _ body: @escaping @Sendable () async throws(RecordingError) -> Void
  ) {
    Task {
      defer { noteEnd() }
      do throws(RecordingError) { try await body() } catch {
        logFailure(error.description, of: room)
      }
    }
  }

  /// Interrupts the recording of a room, so that the next start of the daemon continues it.
  func roomSuspended(_ room: RoomName, _ recorder: RoomRecorder) {
    Task {
      defer { leave(room) }
      do throws(RecordingError) {
        try await recorder.interrupt(endedAt: WallClock.milliseconds())
        if let failure = recorder.failure { throw failure }
      } catch {
        logFailure(error.description, of: room)
      }
    }
  }

  /// Continues the recording that a restored room was writing, unless it was paused or closed. A
  /// failure is logged, and shown in the room.
  ///
  /// - Parameter saved: the recording that an earlier version was writing.
  func resume(_ name: RoomName, _ saved: String?, on lane: HostLane) async {
    let found: (String, RoomLifetime)? = await lane.visit(name) { room in
      room.flatMap { room in room.recordingToContinue(saved).map { ($0, room.life) } }
    }
    guard let (recording, life) = found else { return }
    await enter(name)
    let recorder: RoomRecorder?
    do throws(RecordingError) {
      recorder = try await library.resume(recording, onEvent: events(of: life))
    } catch {
      leave(name)
      return await life.visit { $0?.perform(.failed(reason: error.description)) } ?? ()
    }
    guard let recorder else {
      leave(name)
      // The recording failed, and the daemon was killed before the room learned of it.
      let ended = try? await list(name).recordings.last { $0.recording == recording }
      if ended?.state == .failed {
        await life.visit { $0?.perform(.failed(reason: ended?.reason ?? "it was closed")) }
      }
      return
    }
    let isOpen = await life.visit { room in
      room?.begin(recorder, isNew: false)
      room?.log.handOver()
      return room != nil
    }
    guard isOpen else {
      _ = try? await end(name, recorder, digest: nil)
      return
    }
    logContinuation(of: recorder.name, in: name)
  }

  func logContinuation(of recording: String, in room: RoomName) {
    logger.log(
      .recordingStarted, "recording \(recording) continues in a new segment",
      metadata: ["room": "\(room)", "recording": "\(recording)"])
  }

  /// The maximum number of recordings in one reply.
  package static let pageLimit = 1_000

  /// Returns the newest recordings, in order from the oldest to the newest.
  ///
  /// - Parameters:
  ///   - room: the room whose recordings are returned; `nil` for all rooms.
  ///   - before: the name of a recording; only older ones are returned.
  ///   - limit: the largest number of recordings.
  /// - Throws: ``ControlError`` `recordingFailed` if the directory cannot be read.
  package func list(
    _ room: RoomName?, before: String? = nil, limit: Int = RoomRecordings.pageLimit
  ) async throws(ControlError) -> ListRecordingsReply {
    do throws(RecordingError) {
      let page = try await library.page(room: room?.description, before: before, limit: limit)
      return ListRecordingsReply(
        recordings: page.recordings.map(RecordingReport.init),
        older: page.older > 0 ? page.older : nil)
    } catch {
      throw .recordingFailed(room: room?.description ?? "", reason: error.description)
    }
  }

  /// Why a recording is deleted.
  package enum DeletionReason: String, CaseIterable {
    case request = "a client asked for it"
    case age = "it is older than recordings.maximumAge"
    case size = "the total size exceeds recordings.maximumBytes"
  }

  /// Deletes a recording and returns its report.
  ///
  /// - Throws: ``ControlError`` `noSuchRecording`, `recordingInUse`, `recordingFailed`.
  package func delete(
    _ name: String, because reason: DeletionReason, in directory: RoomDirectory
  ) async throws(ControlError) -> RecordingReport {
    let listed = try await list(nil, limit: .max).recordings.first { $0.recording == name }
    guard let listed else { throw .noSuchRecording(name) }
    return try await delete(listed, because: reason, in: directory)
  }

  /// Deletes a recording, given its report from ``list(_:before:limit:)``.
  package func delete(
    _ recording: RecordingReport, because reason: DeletionReason, in directory: RoomDirectory
  ) async throws(ControlError) -> RecordingReport {
    let name = recording.recording
    if await isNeeded(name, byRoom: recording.room, in: directory) { throw .recordingInUse(name) }
    let deleted: RecordingSummary
    do throws(RecordingError) {
      deleted = try await library.delete(name)
    } catch {
      throw ControlError(error)
    }
    logger.log(
      .recordingDeleted, "recording \(name) deleted: \(reason.rawValue)",
      metadata: [
        "room": "\(deleted.room)", "recording": "\(name)", "bytes": "\(deleted.bytes)",
        "reason": "\(reason.rawValue)",
      ])
    return RecordingReport(deleted)
  }

  /// Whether a room still needs a recording, because it is paused.
  private func isNeeded(
    _ recording: String, byRoom room: String, in directory: RoomDirectory
  ) async -> Bool {
    guard let room = RoomName(room), let lane = directory.lane(of: room) else { return false }
    return await lane.visit(room) { $0?.recorder.paused == recording }
  }

  /// Returns the files of a recording, for reading it.
  ///
  /// - Throws: ``ControlError`` `noSuchRecording`, `recordingFailed`.
  package func files(of name: String) async throws(ControlError) -> RecordingFiles {
    do throws(RecordingError) {
      return try await library.files(of: name)
    } catch {
      throw ControlError(error)
    }
  }

  /// Records damage that a reader found, and returns the error to report.
  package func damaged(_ name: String, _ damage: Damage) async -> ControlError {
    // The damage must be reported even if the catalogue cannot be written.
    let isNew = (try? await library.note(damage, of: name)) ?? true
    if isNew { logDamage(of: name, damage.description) }
    return ControlError(.damaged(recording: name, damage))
  }

  /// Records that all of a recording was read and no damage was found. Any damage known before no
  /// longer counts.
  package func whole(_ name: String, _ whole: RecordingCheck.Whole) async {
    if (try? await library.note(whole, of: name)) == true {
      logger.notice(
        "no damage was found in recording \(name), which no longer counts as damaged",
        metadata: ["recording": "\(name)"])
    }
  }

  /// Logs that a recording differs from what was written.
  package func logDamage(of name: String, _ reason: String) {
    logger.log(
      .recordingDamaged, "recording \(name) is damaged: \(reason)",
      metadata: ["recording": "\(name)", "reason": "\(reason)"])
  }

  /// Why the write-ahead log cannot be written at present; `nil` if it can.
  package var logFailure: PresentFailure? { library.logFailure }

  /// The number of recordings known to be damaged.
  package var damagedCount: Int { library.damagedCount }

  /// Returns the undamaged recording that was verified longest ago; `nil` if that was not before
  /// `time`, or if the catalogue cannot be read. A recording that was never verified counts as
  /// verified at its start.
  package func leastRecentlyChecked(before time: Int) async -> String? {
    try? await library.leastRecentlyChecked(before: time)
  }

  /// Records in the catalogue when a recording was verified. A failure to write the catalogue is
  /// ignored.
  package func noteChecked(_ name: String, at time: Int) async {
    try? await library.noteChecked(name, at: time)
  }

  /// Calls `body` on the recorder's thread as soon as it is not waiting for the disk.
  package func ping(_ body: @escaping @Sendable () -> Void) { library.ping(body) }

  /// The number of steps that are waiting for the disk.
  package var waitingSteps: Int { library.waitingSteps }

  /// Returns once all recordings are closed. No room may record after this.
  package func close() async {
    // All ends of recordings were posted before, so they are done once `settle()` returns.
    repeat { await library.settle() } while activeCount > 0
    library.close()
  }

  /// Returns the closure that receives the reports of a recorder.
  func events(of life: RoomLifetime) -> @Sendable (RecordingEvent) -> Void {
    { [weak self] event in self?.apply(event, to: life) }
  }

  private func apply(_ event: RecordingEvent, to life: RoomLifetime) {
    switch event {
    case .progressed(let bytes, let duration):
      let progress = RecorderProgress(bytes: bytes, durationMilliseconds: duration)
      life.postVisit { $0?.show(progress) }
    case .failed(let error):
      life.postVisit { [self] room in
        guard let room, let ended = room.endRecording() else { return }
        room.perform(.failed(reason: error.description))
        Task {
          defer { noteEnd() }
          _ = try? await end(life.room, ended.recorder, digest: nil)
        }
      }
    }
  }

  /// Informs the observer that a recording has ended and its room was informed.
  func noteEnd() { endObserver.withLock { $0 }?() }

  /// Ends a recording after all of it is on disk. A call of ``noteEnd()`` must follow.
  @discardableResult
  func end(
    _ room: RoomName, _ recorder: RoomRecorder, digest: String?
  ) async throws(RecordingError) -> RecordingSummary {
    defer { leave(room) }
    let summary = try await recorder.finish(digest: digest, endedAt: WallClock.milliseconds())
    guard summary.state == .finished else { return summary }
    logger.log(
      .recordingFinished,
      "recording \(summary.name) finished: \(summary.events) events, \(summary.bytes) bytes",
      metadata: [
        "room": "\(room)", "recording": "\(summary.name)", "events": "\(summary.events)",
        "bytes": "\(summary.bytes)",
      ])
    return summary
  }

  /// Records whether a room's recorder has failed, and logs each new failure.
  func note(_ work: RecorderWork, of room: RoomName) {
    // A disk that does not respond affects all rooms, and is reported by the watchdog.
    guard let failure = work.failure, work.failures > 0 || work.wish != nil else {
      return forgetFailure(of: room)
    }
    let reason =
      work.retryDelay.map { "\(failure); trying again after \($0.components.seconds) s" }
      ?? failure
    let isNew = failed.withLock { failures in
      let known = failures[room]
      failures[room] = PresentFailure(
        reason: reason, since: known?.since ?? WallClock.milliseconds())
      return known?.reason != reason
    }
    if isNew { logFailure(reason, of: room, recording: work.recording) }
  }

  private func logFailure(_ reason: String, of room: RoomName, recording: String? = nil) {
    var metadata: Logger.Metadata = ["room": "\(room)", "reason": "\(reason)"]
    metadata["recording"] = recording.map { "\($0)" }
    logger.log(
      .recordingFailed, "recording of room \(room) failed: \(reason)", metadata: metadata)
  }

  // MARK: One recorder at a time

  /// Waits until no other recorder of the room is open or being opened. A call of ``leave(_:)``
  /// must follow.
  func enter(_ room: RoomName) async {
    await withCheckedContinuation { continuation in enter(room) { continuation.resume() } }
  }

  /// Calls `body` once no other recorder of the room is open or being opened, possibly immediately.
  /// When this call returns, the room counts as active.
  private func enter(_ room: RoomName, _ body: @escaping @Sendable () -> Void) {
    let isFree = active.withLock { active in
      defer { active[room, default: []] += active[room] == nil ? [] : [body] }
      return active[room] == nil
    }
    if isFree { body() }
  }

  func leave(_ room: RoomName) {
    let next: (@Sendable () -> Void)? = active.withLock { active in
      guard active[room]?.isEmpty == false else {
        active[room] = nil
        return nil
      }
      return active[room]?.removeFirst()
    }
    next?()
  }

  /// The number of rooms that are recording, or waiting for a recorder.
  package var activeCount: Int { active.withLock { $0.count } }
}
