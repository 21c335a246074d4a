import Foundation
package import LiveEvents
import RateLimiting
package import Recordings
import SystemSupport

/// The result of a replay.
package struct ReplayResult: Sendable, Equatable {
  package var events = 0
  package var frames = 0
  /// The digest of the room's state after the last step.
  package var digest = ""
}

/// Plays a recording into a room. At any speed, the steps take place at their recorded times in the
/// room, so that the room reaches the same state.
package struct Replay: Sendable {
  package let files: RecordingFiles
  package let room: RoomName
  package let lane: HostLane
  /// The speed relative to the recording; `nil` plays as fast as the lane can.
  package let speed: Double?
  /// The position at which to begin, in nanoseconds from the first step. Earlier steps are skipped.
  package let start: Int64
  /// Limits how many tasks read and decode concurrently; used only at full speed. A slower replay
  /// needs little processor time, and must not wait for other tasks.
  private let slots: WorkSlots?

  package enum Problem: Error, Equatable {
    case roomClosed, roomBusy
    /// The position at which to begin is after the end of the recording.
    case nothingLeft
  }

  package init(
    _ files: RecordingFiles, into room: RoomName, on lane: HostLane, speed: Double?,
    start: Int64 = 0, slots: WorkSlots? = nil
  ) {
    self.files = files
    self.room = room
    self.lane = lane
    self.speed = speed
    self.start = start
    self.slots = speed == nil ? slots : nil
  }

  /// Plays the recording to its end.
  ///
  /// - Parameters:
  ///   - sleep: waits for a number of nanoseconds.
  ///   - progress: called with the number of bytes of the recording that have been read.
  /// - Throws: ``Problem``, ``RecordingError``, `CancellationError`.
  package func run(
    sleep: @Sendable (UInt64) async throws -> Void = { try await Task.sleep(nanoseconds: $0) },
    now: @Sendable () -> UInt64 = { MonotonicClock.nanoseconds() },
    progress: @Sendable (Int) -> Void = { _ in }
  ) async throws -> ReplayResult {
    var result = ReplayResult()
    let beginning = start > 0 ? try beginning() : nil
    var reader = RecordingReader(
      files, from: beginning.map { $0.instant + Interval(nanoseconds: start) })
    var steps: [RecordedStep] = []
    var pace: Pace?
    var done = 0
    do {
      while try await read(&reader, into: &steps, isNew: pace == nil) {
        if pace == nil, let first = steps.first?.instant {
          try await begin(from: first)
          // Earlier steps are skipped, except for the settings at the beginning of the recording.
          let settings = beginning?.settings.map { [RecordedStep.change($0, at: first)] } ?? []
          await lane.visit(room) { $0?.play(settings) }
          pace = Pace(first: first, start: now(), speed: speed)
        }
        for step in steps {
          switch step {
          case .event: result.events += 1
          case .frame: result.frames += 1
          case .change: break
          }
        }
        let block = reader.bytesRead - done
        if let pace {
          // Playing a block may take minutes, so progress is also reported within it.
          try await play(steps, pace, sleep, now) { played in
            progress(done + block * played / steps.count)
          }
        }
        steps.removeAll(keepingCapacity: true)
        done = reader.bytesRead
        progress(done)
      }
    } catch {
      if pace != nil { _ = await lane.visit(room) { $0?.endReplay() } }
      throw error
    }
    if pace == nil {
      guard start <= 0 else { throw Problem.nothingLeft }
      try await begin(from: .origin)
    }
    guard let digest = await lane.visit(room, { $0?.endReplay() }) else { throw Problem.roomClosed }
    result.digest = digest
    return result
  }

  /// Makes the room's time follow the recording until `endReplay()` is called.
  private func begin(from first: Instant) async throws {
    guard let isFree = await lane.visit(room, { $0?.beginReplay(from: first) }) else {
      throw Problem.roomClosed
    }
    guard isFree else { throw Problem.roomBusy }
  }

  /// Reads a block; if slots are limited, waits for a free one first.
  private func read(
    _ reader: inout RecordingReader, into steps: inout [RecordedStep], isNew: Bool
  ) async throws -> Bool {
    guard let slots else { return try reader.read(into: &steps) }
    return try await slots.run(isNew: isNew) { try reader.read(into: &steps) }
  }

  /// Returns the time of the first step and the settings recorded there; `nil` if the recording is
  /// empty.
  private func beginning() throws(RecordingError) -> (instant: Instant, settings: String?)? {
    var reader = RecordingReader(files)
    var steps: [RecordedStep] = []
    while steps.isEmpty, try reader.read(into: &steps) {}
    guard let first = steps.first else { return nil }
    guard case .change(let text, _) = first else { return (first.instant, nil) }
    return (first.instant, text)
  }

  /// Passes steps to the room when they are due, in groups of steps that are due together.
  private func play(
    _ steps: [RecordedStep], _ pace: Pace, _ sleep: (UInt64) async throws -> Void,
    _ now: () -> UInt64, progress: (_ played: Int) -> Void
  ) async throws {
    var rest = steps[...]
    while !rest.isEmpty {
      try Task.checkCancellation()
      let moment = now()
      let due = rest.prefix { pace.due($0.instant) <= moment }
      if due.isEmpty, let next = rest.first {
        try await sleep(pace.due(next.instant) - moment)
        continue
      }
      rest = rest[due.endIndex...]
      guard await hand(Array(due)) else { throw Problem.roomClosed }
      progress(due.endIndex)
    }
  }

  /// Plays steps in the room. If the room is logged and the disk does not keep up, returns only
  /// once it does. Returns `false` if the room is closed.
  private func hand(_ steps: [RecordedStep]) async -> Bool {
    await withCheckedContinuation { continuation in
      lane.postVisit(to: room) { room in
        guard let room else { return continuation.resume(returning: false) }
        room.play(steps)
        room.whenLogKeepsUp { continuation.resume(returning: true) }
      }
    }
  }

  /// Computes the machine's monotonic times at which steps are due, in nanoseconds.
  private struct Pace {
    let first: Instant
    let start: UInt64
    let speed: Double?

    func due(_ instant: Instant) -> UInt64 {
      guard let speed else { return 0 }
      let after = Double((instant - first).nanoseconds) / speed
      return start + UInt64(max(0, min(after, 1e18)))
    }
  }
}
