package import ControlInterface
package import LiveEvents
package import Logging
import NIOCore
package import Platform
package import Recordings
import Systemd

/// Starts, stops and lists the recordings of rooms, and logs what happens to them.
package final class RoomRecordings: Sendable {
  private let library: RecordingLibrary
  private let logger: Logger
  /// Rooms that record, or are about to.
  private let active = Guarded<Set<RoomName>>([])
  private let failed = Guarded<[RoomName: PresentFailure]>([:])
  private let endObserver = Guarded<(@Sendable () -> Void)?>(nil)

  /// Calls `body` whenever a recording has ended.
  func onEnd(_ body: @escaping @Sendable () -> Void) { endObserver.withLock { $0 = body } }

  /// The rooms whose last recording failed, until they record again or are closed.
  package var failures: [RoomName: PresentFailure] { failed.withLock { $0 } }

  /// Forgets that the recording of a room failed, because the room is closed.
  package func forgetFailure(of room: RoomName) { failed.withLock { $0[room] = nil } }

  package init(library: RecordingLibrary, logger: Logger) {
    self.library = library
    self.logger = logger
  }

  /// Recovers what the last run left behind. If nothing can be recorded, the journal says why.
  package func open() async {
    do throws(RecordingError) {
      try await library.open()
    } catch {
      logger.warning("recordings cannot be made: \(error.description)")
    }
  }

  /// How many bytes ``open()`` still has to read.
  package var bytesToRecover: Int { library.bytesToRecover }

  /// Starts recording a room.
  ///
  /// - Throws: ``ControlError`` `alreadyRecording`, `noSuchRoom`, `recordingFailed`.
  package func start(
    _ room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    guard enter(room) else {
      throw .alreadyRecording(room.description)
    }
    guard await lane.visit(room, { $0?.show(.starting) != nil }) else {
      remove(room)
      throw .noSuchRoom(room.description)
    }
    let startedAt = WallClock.milliseconds()
    let recorder: RoomRecorder
    do throws(RecordingError) {
      recorder = try await library.start(room: room.description, startedAt: startedAt) {
        [weak self] event in self?.take(event, of: room, on: lane)
      }
    } catch {
      remove(room)
      lane.postVisit(to: room) { $0?.show(.failed) }
      failed(room, error)
      throw .recordingFailed(room: room.description, reason: error.description)
    }
    guard await begin(recorder, in: room, on: lane) else {
      // The room was closed meanwhile.
      await end(room, recorder, digest: nil)
      throw .noSuchRoom(room.description)
    }
    forgetFailure(of: room)
    logger.log(
      .recordingStarted, "recording \(recorder.name) started",
      metadata: ["room": "\(room)", "recording": "\(recorder.name)"])
    return RecordingReport(recorder.name, room: room.description, startedAt: startedAt)
  }

  /// Makes a room record, and saves that it does, so that it continues after a crash. `false` if
  /// the room is gone.
  private func begin(
    _ recorder: RoomRecorder, in room: RoomName, on lane: HostLane,
    after end: RecordedPosition? = nil
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      lane.postVisit(to: room) { room in
        guard let room else { return continuation.resume(returning: false) }
        room.begin(recorder, after: end)
        room.save(now: .now()) { continuation.resume(returning: true) }
      }
    }
  }

  /// Ends the recording of a room, once all of it is on disk.
  ///
  /// - Throws: ``ControlError`` `noSuchRoom`, `notRecording`, `recordingFailed`.
  package func stop(
    _ room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    let ended = await lane.visit(room) { room in
      let ended = room?.endRecording()
      if ended != nil { room?.show(.stopping) }
      return (exists: room != nil, ended: ended)
    }
    guard ended.exists else { throw .noSuchRoom(room.description) }
    guard let (recorder, digest) = ended.ended else { throw .notRecording(room.description) }
    let summary = await end(room, recorder, digest: digest)
    guard let summary, summary.state != .failed else {
      lane.postVisit(to: room) { host in
        host?.recordingClosed(recorder)
        host?.show(.failed)
      }
      throw .recordingFailed(room: room.description, reason: summary?.reason ?? "it was closed")
    }
    lane.postVisit(to: room) { room in
      room?.recordingClosed(recorder)
      room?.show(.idle)
    }
    return RecordingReport(summary)
  }

  /// Ends the recording of a room that was closed, or is suspended until the next start.
  package func ended(_ room: RoomName, _ recorder: RoomRecorder, _ end: RoomEvent.RecordingEnd) {
    switch end {
    case .closed(let digest): Task { await self.end(room, recorder, digest: digest) }
    case .suspended:
      Task {
        defer { remove(room) }
        do throws(RecordingError) {
          try await recorder.interrupt(endedAt: WallClock.milliseconds())
        } catch {
          failed(room, error)
        }
      }
    }
  }

  /// Continues the recording of a restored room, unless it was ended. If it cannot be continued,
  /// the journal and the room say so.
  ///
  /// - Parameter end: the end of what is recorded, all of which the room has seen.
  func resume(_ room: RoomName, after end: RecordedPosition, on lane: HostLane) async {
    guard enter(room) else { return }
    let recorder: RoomRecorder?
    do throws(RecordingError) {
      recorder = try await library.resume(end.recording) { [weak self] event in
        self?.take(event, of: room, on: lane)
      }
    } catch {
      remove(room)
      lane.postVisit(to: room) { $0?.show(.failed) }
      failed(room, error)
      return
    }
    guard let recorder else {
      remove(room)
      lane.postVisit(to: room) { $0?.show(.idle) }
      return
    }
    guard await begin(recorder, in: room, on: lane, after: end) else {
      await self.end(room, recorder, digest: nil)
      return
    }
    forgetFailure(of: room)
    logger.log(
      .recordingStarted, "recording \(recorder.name) continues in a new segment",
      metadata: ["room": "\(room)", "recording": "\(recorder.name)"])
  }

  /// The most recordings in one reply.
  package static let pageLimit = 1_000

  /// The newest recordings, oldest first.
  ///
  /// - Parameters:
  ///   - room: only those of this room; `nil` for all rooms.
  ///   - before: only those that are older than this one.
  ///   - limit: how many at most.
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
  enum DeletionReason: String, CaseIterable {
    case request = "a client asked for it"
    case age = "it is older than recordings.maximumAge"
    case size = "all together are larger than recordings.maximumBytes"
  }

  /// Deletes a recording, and returns what it was.
  ///
  /// - Throws: ``ControlError`` `noSuchRecording`, `recordingInUse`, `recordingFailed`.
  func delete(
    _ name: String, because reason: DeletionReason, in directory: RoomDirectory
  ) async throws(ControlError) -> RecordingReport {
    let listed = try await list(nil, limit: .max).recordings.first { $0.recording == name }
    guard let listed else { throw .noSuchRecording(name) }
    return try await delete(listed, because: reason, in: directory)
  }

  /// The same, of one that was listed.
  func delete(
    _ recording: RecordingReport, because reason: DeletionReason, in directory: RoomDirectory
  ) async throws(ControlError) -> RecordingReport {
    let name = recording.recording
    if await isNeeded(byRoom: recording.room, in: directory) { throw .recordingInUse(name) }
    let deleted: RecordingSummary
    do throws(RecordingError) {
      deleted = try await library.delete(name)
    } catch {
      switch error {
      case .noSuchRecording: throw .noSuchRecording(name)
      case .inUse: throw .recordingInUse(name)
      default: throw .recordingFailed(room: "", reason: error.description)
      }
    }
    logger.log(
      .recordingDeleted, "recording \(name) deleted: \(reason.rawValue)",
      metadata: [
        "room": "\(deleted.room)", "recording": "\(name)", "bytes": "\(deleted.bytes)",
        "reason": "\(reason.rawValue)",
      ])
    return RecordingReport(deleted)
  }

  /// Whether a room's state might be in a recording only: until a snapshot is on disk that was taken after the
  /// recording had ended.
  private func isNeeded(byRoom room: String, in directory: RoomDirectory) async -> Bool {
    guard let room = RoomName(room), let lane = directory.lane(of: room) else { return false }
    return await withCheckedContinuation { continuation in
      lane.postVisit(to: room) { room in
        guard let room, room.mustSave, room.log?.isRecording != true else {
          return continuation.resume(returning: false)
        }
        room.whenSaved { continuation.resume(returning: !$0) }
      }
    }
  }

  /// The files of a recording, for reading it.
  ///
  /// - Throws: ``ControlError`` `noSuchRecording`, `recordingFailed`.
  func files(of name: String) async throws(ControlError) -> RecordingFiles {
    do throws(RecordingError) {
      return try await library.files(of: name)
    } catch {
      guard case .noSuchRecording = error else {
        throw .recordingFailed(room: "", reason: error.description)
      }
      throw .noSuchRecording(name)
    }
  }

  /// Notes damage found by a reader, and returns the error to report.
  func damaged(_ name: String, _ damage: Damage) async -> ControlError {
    // The damage must be reported even if the catalogue cannot be written.
    let isNew = (try? await library.note(damage, of: name)) ?? true
    if isNew { logDamage(of: name, damage.description) }
    let error = RecordingError.damaged(recording: name, damage)
    return .recordingFailed(room: "", reason: error.description)
  }

  /// Tells the journal that a recording is not as it was written.
  func logDamage(of name: String, _ reason: String) {
    logger.log(
      .recordingDamaged, "recording \(name) is damaged: \(reason)",
      metadata: ["recording": "\(name)", "reason": "\(reason)"])
  }

  /// Why the log of all rooms cannot be written at present.
  var logFailure: PresentFailure? { library.logFailure }

  /// How many recordings are known to be damaged.
  var damagedCount: Int { library.damagedCount }

  /// The recording that was checked longest ago, or made if it never was, and before `time`; `nil` if there is
  /// none, or the catalogue cannot be read.
  func leastRecentlyChecked(before time: Int) async -> String? {
    try? await library.leastRecentlyChecked(before: time)
  }

  /// Notes in the catalogue, if that can be written, when a recording was read to find damage.
  func noteChecked(_ name: String, at time: Int) async {
    try? await library.noteChecked(name, at: time)
  }

  /// Calls `body` soon on the recorder's thread; not while the disk holds it.
  package func ping(_ body: @escaping @Sendable () -> Void) { library.ping(body) }

  /// How many steps wait for the disk.
  package var waitingSteps: Int { library.waitingSteps }

  /// Returns once all recordings are closed. No room may record after this.
  package func close() async {
    // Ending a recording was posted before this; the answer means that it is done.
    repeat { await library.settle() } while activeCount > 0
    library.close()
  }

  private func take(_ event: RecordingEvent, of room: RoomName, on lane: HostLane) {
    switch event {
    case .progressed(let bytes, let duration):
      let progress = RecorderProgress(bytes: bytes, durationMilliseconds: duration)
      lane.postVisit(to: room) { room in
        if room?.log?.isRecording == true { room?.show(progress) }
      }
    case .failed(let error):
      failed(room, error)
      lane.postVisit(to: room) { [self] host in
        guard let ended = host?.endRecording() else { return }
        host?.show(.failed)
        // It will not write anything more, so nothing has to wait for it.
        host?.recordingClosed(ended.recorder)
        self.ended(room, ended.recorder, .closed(digest: nil))
      }
    }
  }

  @discardableResult
  private func end(
    _ room: RoomName, _ recorder: RoomRecorder, digest: String?
  ) async -> RecordingSummary? {
    defer {
      remove(room)
      endObserver.withLock { $0 }?()
    }
    do throws(RecordingError) {
      let summary = try await recorder.finish(
        digest: digest, endedAt: WallClock.milliseconds())
      guard summary.state == .finished else { return summary }
      logger.log(
        .recordingFinished,
        "recording \(summary.name) finished: \(summary.events) events, \(summary.bytes) bytes",
        metadata: [
          "room": "\(room)", "recording": "\(summary.name)", "events": "\(summary.events)",
          "bytes": "\(summary.bytes)",
        ])
      return summary
    } catch {
      failed(room, error, recording: recorder.name)
      return nil
    }
  }

  private func failed(_ room: RoomName, _ error: RecordingError, recording: String? = nil) {
    var metadata: Logger.Metadata = ["room": "\(room)", "reason": "\(error.description)"]
    metadata["recording"] = recording.map { "\($0)" }
    failed.withLock {
      $0[room] = PresentFailure(reason: error.description)
    }
    logger.log(
      .recordingFailed, "recording of room \(room) failed: \(error.description)",
      metadata: metadata)
  }

  private func enter(_ room: RoomName) -> Bool {
    active.withLock { $0.insert(room).inserted }
  }

  /// Rooms that record, or are about to.
  package var activeCount: Int {
    active.withLock { $0.count }
  }

  private func remove(_ room: RoomName) { active.withLock { _ = $0.remove(room) } }
}

extension RecordingReport {
  fileprivate init(_ name: String, room: String, startedAt: Int) {
    self.init(
      recording: name, room: room, state: .recording, reason: nil, startedAt: startedAt,
      endedAt: nil, events: 0, frames: 0, bytes: 0, durationMs: 0, segments: 1, digest: nil)
  }

  fileprivate init(_ summary: RecordingSummary) {
    self.init(
      recording: summary.name, room: summary.room, state: summary.state,
      reason: summary.reason, startedAt: summary.startedAt, endedAt: summary.endedAt,
      events: summary.events, frames: summary.frames, bytes: summary.bytes,
      durationMs: summary.durationMs, segments: summary.segments,
      digest: summary.digest.flatMap { StateDigest.isComparable($0) ? $0 : nil })
  }
}
