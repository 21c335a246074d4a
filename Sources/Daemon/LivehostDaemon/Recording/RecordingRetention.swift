import ControlInterface
import LiveEvents
import Locking
package import Rooms
import SystemSupport

/// The limits above which recordings are deleted.
package struct RetentionLimits: Sendable, Equatable {
  /// The maximum age of a recording, in milliseconds since its end; `nil` means no limit.
  package var maximumAge: Int?
  /// The maximum size of all recordings together, in bytes; `nil` means no limit.
  package var maximumBytes: Int?

  package init(maximumAge: Int? = nil, maximumBytes: Int? = nil) {
    self.maximumAge = maximumAge
    self.maximumBytes = maximumBytes
  }
}

/// Deletes recordings that exceed the configured limits, oldest first: at the start, when a
/// recording ends, when the configuration changes, and once an hour.
package final class RecordingRetention: Sendable {
  private static let pause = Duration.seconds(3_600)

  private let recordings: RoomRecordings
  private let directory: RoomDirectory
  private let metrics: DaemonMetrics
  private let limits: Guarded<RetentionLimits>
  /// Returns the rooms that were set aside. No limit applies to their recordings, because the rooms
  /// may need them if they are restored later.
  private let roomsAside: @Sendable () -> Set<String>
  private let now: @Sendable () -> Int
  private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameter now: returns milliseconds since 1970.
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
    metrics.setRetention(limits)
    recordings.onEnd { [wakes] in wakes.continuation.yield() }
  }

  /// Replaces the limits, and soon deletes the recordings that exceed the new ones.
  package func apply(_ limits: RetentionLimits) {
    self.limits.withLock { $0 = limits }
    metrics.setRetention(limits)
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

  /// Deletes the recordings that exceed a limit. A recording that cannot be deleted now, for
  /// example because it is being read, is left for the next call.
  ///
  /// - Complexity: O(recordings).
  package func enforce() async {
    let limits = limits.withLock { $0 }
    guard limits != RetentionLimits(),
      let all = try? await recordings.list(nil, limit: .max).recordings
    else { return }
    let (now, aside) = (now(), roomsAside())
    var bytes = all.reduce(0) { $0 + $1.bytes }
    // A recording without a start time is kept, because its age is unknown.
    for recording in all
    where recording.state != .recording && recording.startedAt > 0
      && !aside.contains(recording.room)
    {
      // The files may state an end that is before the beginning.
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
