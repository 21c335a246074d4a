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
  func recorder(of name: RoomName, _ life: RoomLifetime, on lane: HostLane) -> Recorder {
    // The lane has the room, and the room has this.
    let room: @Sendable () throws -> RecordedRoom = { [weak lane] in
      guard let lane else { throw CancellationError() }
      return RecordedRoom(name: name, life: life, lane: lane)
    }
    return Recorder(
      start: { [self] attempt in try await start(attempt, of: room()) },
      stop: { [self] _ in try await close(room()) },
      pause: { [self] attempt in try await pause(attempt, of: room()) },
      resume: { [self] attempt in try await resume(attempt, of: room()) })
  }

  /// What a recorder tells while it writes.
  func events(of room: RecordedRoom) -> @Sendable (RecordingEvent) -> Void {
    let (name, life) = (room.name, room.life)
    return { [weak self, weak lane = room.lane] event in
      if let lane { self?.take(event, of: RecordedRoom(name: name, life: life, lane: lane)) }
    }
  }

  private func start(_ attempt: Int, of room: RecordedRoom) async throws -> String {
    // The stop that this replaces may not have begun.
    _ = try await close(room)
    await enter(room.name)
    let recorder: RoomRecorder
    do throws(RecordingError) {
      recorder = try await library.start(
        room: room.name.description, startedAt: WallClock.milliseconds(), onEvent: events(of: room))
    } catch {
      leave(room.name)
      throw error
    }
    let name = recorder.name
    let isWanted = await room.visit {
      $0?.begin(recorder, for: attempt, as: .started(recording: name)) ?? false
    }
    guard isWanted else {
      _ = try? await recorder.finish(digest: nil, endedAt: WallClock.milliseconds())
      _ = try? await library.delete(name)
      leave(room.name)
      throw CancellationError()
    }
    logger.log(
      .recordingStarted, "recording \(name) started",
      metadata: ["room": "\(room.name)", "recording": "\(name)"])
    return name
  }

  /// Closes the recording of a room, once all of it is on disk; `nil` if there is none.
  private func close(_ room: RecordedRoom) async throws(RecordingError) -> SavedRecording? {
    let ended = await room.visit { $0?.takeRecording() }
    let summary: RecordingSummary?
    switch ended {
    case .written(let recorder, let digest):
      defer {
        room.postVisit { $0?.recordingClosed() }
        noteEnd()
      }
      summary = try await end(room.name, recorder, digest: digest)
      if let failure = recorder.failure { throw failure }
    case .open(let name):
      defer {
        room.postVisit { $0?.recordingClosed() }
        noteEnd()
      }
      await enter(room.name)
      summary = try await close(name, of: room.name)
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

  private func pause(_ attempt: Int, of room: RecordedRoom) async throws {
    let paused = await room.visit { $0?.pauseRecording(for: attempt) }
    guard let paused else { return }
    defer { leave(room.name) }
    try await paused.interrupt(endedAt: WallClock.milliseconds())
    if let failure = paused.failure {
      await room.visit { $0?.recordingClosed() }
      throw failure
    }
    logger.log(
      .recordingPaused, "recording \(paused.name) is paused",
      metadata: ["room": "\(room.name)", "recording": "\(paused.name)"])
  }

  private func resume(_ attempt: Int, of room: RecordedRoom) async throws {
    // The pause that this replaces may not have begun.
    if await room.visit({ $0?.isRecording }) == true { return }
    await enter(room.name)
    do {
      let paused = await room.visit { $0?.pausedRecording }
      guard let paused else { throw NothingPaused() }
      let recorder = try await library.resume(paused, onEvent: events(of: room))
      guard let recorder else { throw RecordingError.noSuchRecording(paused) }
      let isWanted = await room.visit {
        $0?.begin(recorder, for: attempt, as: .resumed) ?? false
      }
      guard isWanted else {
        try? await recorder.interrupt(endedAt: WallClock.milliseconds())
        throw CancellationError()
      }
      logContinuation(of: recorder.name, in: room.name)
    } catch {
      leave(room.name)
      throw error
    }
  }

  private struct NothingPaused: Error, CustomStringConvertible {
    var description: String { "no recording is paused" }
  }
}
