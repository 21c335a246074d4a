import Foundation
package import LiveEvents
import Platform
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
  /// Where to wait for a place to read and decode in, if it is played as fast as it goes. Played by time
  /// it hardly works, and must not wait for others' work.
  private let slots: WorkSlots?

  package enum Problem: Error, Equatable {
    case roomClosed, roomBusy
    /// It was to begin behind its end.
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

  /// Plays it to its end.
  ///
  /// - Parameters:
  ///   - sleep: waits so many nanoseconds.
  ///   - progress: told how many bytes of the recording are read.
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
          // What came before is left out, but for the settings that the recording was begun with.
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
          // A block may last for minutes.
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

  /// Takes the room's time over; from here on it has to be given back.
  private func begin(from first: Instant) async throws {
    guard let isFree = await lane.visit(room, { $0?.beginReplay(from: first) }) else {
      throw Problem.roomClosed
    }
    guard isFree else { throw Problem.roomBusy }
  }

  /// Reads a block, once there is a place for that work.
  private func read(
    _ reader: inout RecordingReader, into steps: inout [RecordedStep], isNew: Bool
  ) async throws -> Bool {
    guard let slots else { return try reader.read(into: &steps) }
    return try await slots.run(isNew: isNew) { try reader.read(into: &steps) }
  }

  /// When the recording begins, and the settings that it begins with; `nil` if there is nothing in it.
  private func beginning() throws(RecordingError) -> (instant: Instant, settings: String?)? {
    var reader = RecordingReader(files)
    var steps: [RecordedStep] = []
    while steps.isEmpty, try reader.read(into: &steps) {}
    guard let first = steps.first else { return nil }
    guard case .change(let text, _) = first else { return (first.instant, nil) }
    return (first.instant, text)
  }

  /// Hands steps over when they are due; those that are due together at once.
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
      let isOpen = await lane.visit(room) { room in
        room?.play(Array(due))
        return room != nil
      }
      guard isOpen else { throw Problem.roomClosed }
      progress(due.endIndex)
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
