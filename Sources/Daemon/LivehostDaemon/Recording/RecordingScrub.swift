import ControlInterface
import Recordings
package import Rooms
import SystemSupport

/// Verifies the recordings slowly and periodically, so that damage is found before a recording is
/// needed.
///
/// The catalogue stores when each recording was verified, so a restart does not verify all of them
/// again.
package struct RecordingScrub: Sendable {
  /// The maximum number of bytes read per second.
  package static let bytesPerSecond = 4 << 20
  /// The time until the next search for a due recording if none is due now.
  private static let pause = Duration.seconds(3_600)

  private let recordings: RoomRecordings
  private let slots: WorkSlots
  private let days: Int
  private let metrics: DaemonMetrics
  private let now: @Sendable () -> Int
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - days: the number of days between two verifications of a recording, starting with its
  ///     creation.
  ///   - now: returns milliseconds since 1970.
  package init(
    _ recordings: RoomRecordings, slots: WorkSlots, days: Int, metrics: DaemonMetrics,
    now: @escaping @Sendable () -> Int = { WallClock.milliseconds() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.recordings = recordings
    self.slots = slots
    self.days = days
    self.metrics = metrics
    self.now = now
    self.sleep = sleep
  }

  /// Runs until the task is cancelled.
  package func run() async throws {
    while true {
      if let name = await recordings.leastRecentlyChecked(before: now() - days * 86_400_000) {
        try await check(name)
        await recordings.noteChecked(name, at: now())
      } else {
        try await sleep(Self.pause)
      }
    }
  }

  private func check(_ name: String) async throws {
    let damage: String
    do {
      // These files are not protected: the recording can be deleted while it is verified.
      let files = try await recordings.files(of: name).withoutUse
      var check = RecordingCheck(files)
      var bytes = 0
      var hasMore = true
      while hasMore {
        hasMore = try await check.nextPart(on: slots)
        let part = check.bytesRead - bytes
        bytes = check.bytesRead
        metrics.countScrubbed(bytes: part)
        try await sleep(.seconds(Double(part) / Double(Self.bytesPerSecond)))
      }
      if let found = check.damage, await !isGone(name) {
        _ = await recordings.damaged(name, found)
      }
      return
    } catch let error as RecordingError {
      damage = error.description
    } catch ControlError.noSuchRecording {
      // The recording was deleted meanwhile.
      return
    } catch ControlError.recordingFailed(room: _, reason: let reason) {
      damage = reason
    }
    // The disk cannot read the recording now, but may succeed later, so the recording is not marked
    // as damaged.
    if await !isGone(name) { recordings.logDamage(of: name, damage) }
  }

  /// Whether a recording was deleted while it was read.
  private func isGone(_ name: String) async -> Bool {
    do throws(ControlError) {
      _ = try await recordings.files(of: name)
      return false
    } catch {
      return error == .noSuchRecording(name)
    }
  }
}
