import ControlInterface
import LiveEvents
import Logging
package import RecorderFeature
import Recordings
import SystemSupport
import Systemd

// The recorder that the effects of a room use. In the step in which the recording begins or pauses,
// the room's lane decides whether the attempt is still wanted. If it is not, because the effect was
// cancelled meanwhile, the effect undoes its work.
extension RoomRecordings {
  package func recorder(of life: RoomLifetime) -> Recorder {
    Recorder(
      start: { [self] attempt in try await start(attempt, of: life) },
      stop: { [self] _ in try await close(life) },
      pause: { [self] attempt in try await pause(attempt, of: life) },
      resume: { [self] attempt in try await resume(attempt, of: life) })
  }

  private func start(_ attempt: Int, of life: RoomLifetime) async throws -> String {
    // If this attempt replaces a stop, the stop may not have closed the recording yet.
    _ = try await close(life)
    await enter(life.room)
    let recorder: RoomRecorder
    do throws(RecordingError) {
      recorder = try await library.start(
        room: life.name, startedAt: WallClock.milliseconds(), onEvent: events(of: life))
    } catch {
      leave(life.room)
      throw error
    }
    let name = recorder.name
    let isWanted = await life.visit {
      $0?.begin(recorder, for: attempt, as: .started(recording: name)) ?? false
    }
    guard isWanted else {
      _ = try? await recorder.finish(digest: nil, endedAt: WallClock.milliseconds())
      _ = try? await library.delete(name)
      leave(life.room)
      throw CancellationError()
    }
    logger.log(
      .recordingStarted, "recording \(name) started",
      metadata: ["room": "\(life.room)", "recording": "\(name)"])
    return name
  }

  /// Closes the recording of a room. Returns once all of it is on disk; returns `nil` if there is
  /// no recording.
  private func close(_ life: RoomLifetime) async throws(RecordingError) -> SavedRecording? {
    let ended = await life.visit { $0?.closeRecording() }
    let summary: RecordingSummary?
    switch ended {
    case .written(let recorder, let digest):
      defer {
        life.postVisit { $0?.recorder.closed() }
        noteEnd()
      }
      summary = try await end(life.room, recorder, digest: digest)
      if let failure = recorder.failure { throw failure }
    case .open(let name):
      defer {
        life.postVisit { $0?.recorder.closed() }
        noteEnd()
      }
      await enter(life.room)
      summary = try await close(name, of: life.room)
    case nil: return nil
    }
    return summary.map {
      SavedRecording(name: $0.name, bytes: $0.bytes, durationMilliseconds: $0.durationMs)
    }
  }

  /// Closes a recording that is not being written. Must be called after ``enter(_:)``. Returns
  /// `nil` if the recording is closed already.
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

  private func pause(_ attempt: Int, of life: RoomLifetime) async throws {
    let paused = await life.visit { $0?.pauseRecording(for: attempt) }
    guard let paused else { return }
    defer { leave(life.room) }
    try await paused.interrupt(endedAt: WallClock.milliseconds())
    if let failure = paused.failure {
      await life.visit { $0?.recorder.closed() }
      throw failure
    }
    logger.log(
      .recordingPaused, "recording \(paused.name) is paused",
      metadata: ["room": "\(life.room)", "recording": "\(paused.name)"])
  }

  private func resume(_ attempt: Int, of life: RoomLifetime) async throws {
    // If this attempt replaces a pause that has not begun, the recording is still being written.
    if await life.visit({ $0?.isRecording }) == true { return }
    await enter(life.room)
    do {
      let paused = await life.visit { $0?.recorder.paused }
      guard let paused else { throw NothingPaused() }
      let recorder = try await library.resume(paused, onEvent: events(of: life))
      guard let recorder else { throw RecordingError.noSuchRecording(paused) }
      let isWanted = await life.visit {
        $0?.begin(recorder, for: attempt, as: .resumed) ?? false
      }
      guard isWanted else {
        try? await recorder.interrupt(endedAt: WallClock.milliseconds())
        throw CancellationError()
      }
      logContinuation(of: recorder.name, in: life.room)
    } catch {
      leave(life.room)
      throw error
    }
  }

  private struct NothingPaused: Error, CustomStringConvertible {
    var description: String { "no recording is paused" }
  }
}
