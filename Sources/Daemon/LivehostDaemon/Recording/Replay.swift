import Foundation
package import LiveEvents
import RateLimiting
package import Recordings

/// What came of a replay.
package struct ReplayResult: Sendable, Equatable {
  package var events = 0
  package var frames = 0
  /// Of the room's state after the last step.
  package var digest = ""
}

/// Plays a recording into a room: its steps at the times that it tells, whatever the speed, so that the
/// room comes to the same state.
package struct Replay: Sendable {
  package let files: RecordingFiles
  package let room: RoomName
  package let lane: HostLane
  /// How many times as fast as it was; `nil` means as fast as the lane takes it.
  package let speed: Double?
  /// Where to begin, from the first step on, in nanoseconds. What came before is left out.
  package let start: Int64

  package enum Problem: Error, Equatable { case roomClosed, roomBusy }

  package init(
    _ files: RecordingFiles, into room: RoomName, on lane: HostLane, speed: Double?,
    start: Int64 = 0
  ) {
    self.files = files
    self.room = room
    self.lane = lane
    self.speed = speed
    self.start = start
  }

  /// Plays it to its end.
  ///
  /// - Parameters:
  ///   - sleep: waits so many nanoseconds.
  ///   - progress: told how many bytes of the recording are read.
  /// - Throws: ``Problem``, ``RecordingError``, `CancellationError`.
  package func run(
    sleep: @Sendable (UInt64) async throws -> Void = { try await Task.sleep(nanoseconds: $0) },
    now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds },
    progress: @Sendable (Int) -> Void = { _ in }
  ) async throws -> ReplayResult {
    var result = ReplayResult()
    var reader = RecordingReader(files, from: try firstInstant())
    var steps: [RecordedStep] = []
    var pace: Pace?
    do {
      while try reader.read(into: &steps) {
        if pace == nil, let first = steps.first?.instant {
          guard let isFree = await lane.visit(room, { $0?.beginReplay(from: first) }) else {
            throw Problem.roomClosed
          }
          guard isFree else { throw Problem.roomBusy }
          pace = Pace(first: first, start: now(), speed: speed)
        }
        for step in steps {
          if case .event = step { result.events += 1 } else { result.frames += 1 }
        }
        if let pace { try await play(steps, pace, sleep, now) }
        steps.removeAll(keepingCapacity: true)
        progress(reader.bytesRead)
      }
    } catch {
      if pace != nil { _ = await lane.visit(room) { $0?.endReplay() } }
      throw error
    }
    guard let digest = await lane.visit(room, { $0?.endReplay() }) else { throw Problem.roomClosed }
    result.digest = digest
    return result
  }

  /// The time from which on steps are wanted; `nil` for all.
  private func firstInstant() throws(RecordingError) -> Instant? {
    guard start > 0 else { return nil }
    var reader = RecordingReader(files)
    var steps: [RecordedStep] = []
    while steps.isEmpty, try reader.read(into: &steps) {}
    return steps.first.map { $0.instant + Interval(nanoseconds: start) }
  }

  /// Hands steps over when they are due; those that are due together at once.
  private func play(
    _ steps: [RecordedStep], _ pace: Pace, _ sleep: (UInt64) async throws -> Void,
    _ now: () -> UInt64
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
      let isOpen = await lane.visit(room) { room in
        room?.play(Array(due))
        return room != nil
      }
      guard isOpen else { throw Problem.roomClosed }
    }
  }

  /// When steps are due, by the machine's monotonic time in nanoseconds.
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
