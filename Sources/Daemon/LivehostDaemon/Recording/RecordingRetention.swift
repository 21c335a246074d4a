import ControlInterface
import LiveEvents
import Locking
import SystemSupport

/// How long recordings are kept.
package struct RetentionLimits: Sendable, Equatable {
  /// How old a recording may be, in milliseconds since its end; `nil` means any age.
  package var maximumAge: Int?
  /// How large all recordings may be together; `nil` means any size.
  package var maximumBytes: Int?

  package init(maximumAge: Int? = nil, maximumBytes: Int? = nil) {
    self.maximumAge = maximumAge
    self.maximumBytes = maximumBytes
  }
}

/// Deletes whole recordings, oldest first, as the configuration says: at the start, when a
/// recording has ended, when the configuration has changed, and once an hour.
package final class RecordingRetention: Sendable {
  private static let pause = Duration.seconds(3_600)

  private let recordings: RoomRecordings
  private let directory: RoomDirectory
  private let metrics: DaemonMetrics
  private let limits: Guarded<RetentionLimits>
  /// The rooms whose recordings are kept whatever their age: they were set aside, and may need
  /// them.
  private let roomsAside: @Sendable () -> Set<String>
  private let now: @Sendable () -> Int
  private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameter now: in milliseconds since 1970.
  package init(
    _ recordings: RoomRecordings, of directory: RoomDirectory, limits: RetentionLimits,
    metrics: DaemonMetrics, roomsAside: @escaping @Sendable () -> Set<String> = { [] },
    now: @escaping @Sendable () -> Int = { WallClock.milliseconds() }
  ) {
    self.recordings = recordings
    self.directory = directory
    self.metrics = metrics
    self.limits = Guarded(limits)
    self.roomsAside = roomsAside
    self.now = now
    metrics.note(limits)
    recordings.onEnd { [wakes] in wakes.continuation.yield() }
  }

  /// Puts other limits in force.
  package func apply(_ limits: RetentionLimits) {
    self.limits.withLock { $0 = limits }
    metrics.note(limits)
    wakes.continuation.yield()
  }

  /// Runs until the task is cancelled.
  package func run(
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async {
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [wakes] in
        while true {
          wakes.continuation.yield()
          try await sleep(Self.pause)
        }
      }
      for await _ in wakes.stream { await enforce() }
      group.cancelAll()
    }
  }

  /// Deletes what is too old or too much. What cannot be deleted now, since it is being read for
  /// instance, is left for the next time.
  ///
  /// - Complexity: O(recordings).
  package func enforce() async {
    let limits = limits.withLock { $0 }
    guard limits != RetentionLimits(),
      let all = try? await recordings.list(nil, limit: .max).recordings
    else { return }
    let (now, aside) = (now(), roomsAside())
    var bytes = all.reduce(0) { $0 + $1.bytes }
    // How old a recording is that does not tell when it began, nobody knows.
    for recording in all
    where recording.state != .recording && recording.startedAt > 0
      && !aside.contains(recording.room)
    {
      // Never before its beginning, whatever its files say.
      let end = max(
        recording.startedAt, recording.endedAt ?? recording.startedAt &+ recording.durationMs)
      let reason: RoomRecordings.DeletionReason
      if let age = limits.maximumAge, end < now - age {
        reason = .age
      } else if let maximum = limits.maximumBytes, bytes > maximum {
        reason = .size
      } else {
        continue
      }
      if let deleted = try? await recordings.delete(recording, because: reason, in: directory) {
        bytes -= deleted.bytes
        metrics.countDeleted(bytes: deleted.bytes)
      }
    }
  }
}
