import ControlInterface
import LiveEvents
import Logging
import Platform
import RecorderFeature
import Recordings
import Systemd

// The recorder that the effects of a room work with. Whether an attempt is still wanted is decided on the room's
// lane, in the step in which the recording begins or pauses; an effect that was cancelled meanwhile clears away what
// it has made.
extension RoomRecordings {
  func recorder(of room: RoomName, on lane: HostLane) -> Recorder {
    // The lane has the room, and the room has this.
    let owner: @Sendable () throws -> HostLane = { [weak lane] in
      guard let lane else { throw CancellationError() }
      return lane
    }
    return Recorder(
      start: { [self] attempt in try await start(attempt, of: room, on: owner()) },
      stop: { [self] _ in try await close(room, on: owner()) },
      pause: { [self] attempt in try await pause(attempt, of: room, on: owner()) },
      resume: { [self] attempt in try await resume(attempt, of: room, on: owner()) })
  }

  private func start(
    _ attempt: Int, of room: RoomName, on lane: HostLane
  ) async throws -> String {
    // The stop that this replaces may not have begun.
    _ = try await close(room, on: lane)
    await enter(room)
    let recorder: RoomRecorder
    do throws(RecordingError) {
      recorder = try await library.start(
        room: room.description, startedAt: WallClock.milliseconds()
      ) { [weak self, weak lane] event in
        if let lane { self?.take(event, of: room, on: lane) }
      }
    } catch {
      leave(room)
      throw error
    }
    let name = recorder.name
    let isWanted = await lane.visit(room) {
      $0?.begin(recorder, for: attempt, as: .started(recording: name)) ?? false
    }
    guard isWanted else {
      _ = try? await recorder.finish(digest: nil, endedAt: WallClock.milliseconds())
      _ = try? await library.delete(name)
      leave(room)
      throw CancellationError()
    }
    logger.log(
      .recordingStarted, "recording \(name) started",
      metadata: ["room": "\(room)", "recording": "\(name)"])
    return name
  }

  /// Closes the recording of a room, once all of it is on disk; `nil` if there is none.
  private func close(
    _ room: RoomName, on lane: HostLane
  ) async throws(RecordingError) -> SavedRecording? {
    let ended = await lane.visit(room) { room in
      defer { room?.continueInLog() }
      return room?.takeRecording()
    }
    let summary: RecordingSummary?
    switch ended {
    case .written(let recorder, let digest):
      defer {
        lane.postVisit(to: room) { $0?.recordingClosed(recorder) }
        noteEnd()
      }
      summary = try await end(room, recorder, digest: digest)
      if let failure = recorder.failure { throw failure }
    case .open(let name):
      defer {
        lane.postVisit(to: room) { $0?.recordingClosed(nil) }
        noteEnd()
      }
      await enter(room)
      summary = try await close(name, of: room)
    case nil: return nil
    }
    return summary.map {
      SavedRecording(name: $0.name, bytes: $0.bytes, durationMilliseconds: $0.durationMs)
    }
  }

  /// Closes a recording that is not being written, after ``enter(_:)``; `nil` if it is closed already.
  func close(
    _ name: String, of room: RoomName
  ) async throws(RecordingError) -> RecordingSummary? {
    let recorder: RoomRecorder?
    do throws(RecordingError) {
      recorder = try await library.resume(name) { _ in }
    } catch {
      leave(room)
      throw error
    }
    guard let recorder else {
      leave(room)
      return nil
    }
    return try await end(room, recorder, digest: nil)
  }

  private func pause(_ attempt: Int, of room: RoomName, on lane: HostLane) async throws {
    let paused = await lane.visit(room) { $0?.pauseRecording(for: attempt) }
    guard let paused else { return }
    defer { leave(room) }
    try await paused.interrupt(endedAt: WallClock.milliseconds())
    let failure = paused.failure
    await lane.visit(room) { room in
      // It stays open, unless there is nothing to continue.
      let open = room?.openRecording
      room?.recordingClosed(paused)
      if failure == nil { room?.openRecording = open }
    }
    if let failure { throw failure }
    logger.log(
      .recordingPaused, "recording \(paused.name) is paused",
      metadata: ["room": "\(room)", "recording": "\(paused.name)"])
  }

  private func resume(_ attempt: Int, of room: RoomName, on lane: HostLane) async throws {
    // The pause that this replaces may not have begun.
    if await lane.visit(room, { $0?.log?.isRecording }) == true { return }
    await enter(room)
    do {
      let position = await lane.visit(room) { $0?.openRecording }
      guard let position else { throw NothingPaused() }
      let recorder = try await library.resume(position.recording) {
        [weak self, weak lane] event in
        if let lane { self?.take(event, of: room, on: lane) }
      }
      guard let recorder else { throw RecordingError.noSuchRecording(position.recording) }
      let isWanted = await lane.visit(room) {
        $0?.begin(recorder, after: position, for: attempt, as: .resumed) ?? false
      }
      guard isWanted else {
        try? await recorder.interrupt(endedAt: WallClock.milliseconds())
        throw CancellationError()
      }
      logContinuation(of: recorder.name, in: room)
    } catch {
      leave(room)
      throw error
    }
  }

  private struct NothingPaused: Error, CustomStringConvertible {
    var description: String { "no recording is paused" }
  }
}
