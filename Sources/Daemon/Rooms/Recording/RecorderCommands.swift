package import ControlInterface
package import LiveEvents
import RecorderFeature

// The requests of clients to the recorder. A client waits for the outcome, so a failed attempt is
// repeated only if the client asks for that.
extension RoomRecordings {
  /// Starts recording a room. Returns once the start is on disk, so that a restart continues the
  /// recording.
  ///
  /// - Parameter retries: whether the recorder repeats a failed attempt until one succeeds. The
  ///   call throws after the first failure in either case.
  /// - Throws: ``ControlError`` `alreadyRecording`, `noSuchRoom`, `recordingFailed`.
  package func start(
    _ room: RoomName, on lane: HostLane, retries: Bool = false
  ) async throws(ControlError) -> RecordingReport {
    let recording = try await begin(.start, room, on: lane, retries: retries)
    return RecordingReport(
      recording.recording, room: room.description, startedAt: recording.startedAt)
  }

  /// Continues the paused recording of a room.
  ///
  /// - Throws: ``ControlError`` `alreadyRecording`, `notRecording`, `noSuchRoom`,
  ///   `recordingFailed`.
  package func resume(
    _ room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    try await begin(.resume, room, on: lane, retries: false)
  }

  /// Pauses the recording of a room. Returns once everything before the pause is on disk.
  ///
  /// - Throws: ``ControlError`` `notRecording`, `noSuchRoom`, `recordingFailed`.
  package func pause(
    _ room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    _ = try await carryOut(.pause, room, on: lane)
    return try await report(of: room, on: lane)
  }

  /// Ends the recording of a room. Returns once all of it is on disk.
  ///
  /// - Throws: ``ControlError`` `noSuchRoom`, `notRecording`, `recordingFailed`; `noSuchRecording`
  ///   if the recording was deleted immediately because it exceeds a limit of the configuration.
  package func stop(
    _ room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    // A failed recording can still be reported, although there is nothing left to close.
    let last = await lane.visit(room) { $0?.recordingName }
    let outcome = try await carryOut(.stop, room, on: lane)
    guard case .saved(let saved) = outcome, let name = saved?.name ?? last else {
      throw .notRecording(room.description)
    }
    return try await report(of: name, room)
  }

  private func begin(
    _ wish: RecorderWish, _ room: RoomName, on lane: HostLane, retries: Bool
  ) async throws(ControlError) -> RecordingReport {
    _ = try await carryOut(wish, room, on: lane, retries: retries)
    try await lane.save(room)
    return try await report(of: room, on: lane)
  }

  private func carryOut(
    _ wish: RecorderWish, _ room: RoomName, on lane: HostLane, retries: Bool = false
  ) async throws(ControlError) -> RecorderOutcome {
    let outcome = try await lane.requestRecording(wish, in: room, retries: retries)
    switch outcome {
    case .started, .paused, .resumed, .saved: return outcome
    case .failed(let reason):
      let end = retries ? "; livehostd will try again" : ""
      throw .recordingFailed(room: room.description, reason: reason + end)
    case .replaced:
      throw .recordingFailed(room: room.description, reason: "replaced by a later request")
    }
  }

  private func report(
    of room: RoomName, on lane: HostLane
  ) async throws(ControlError) -> RecordingReport {
    let name = await lane.visit(room) { $0?.recordingName }
    guard let name else { throw .noSuchRoom(room.description) }
    return try await report(of: name, room)
  }

  private func report(
    of name: String, _ room: RoomName
  ) async throws(ControlError) -> RecordingReport {
    guard let report = try await list(room).recordings.last(where: { $0.recording == name }) else {
      throw .noSuchRecording(name)
    }
    return report
  }
}
