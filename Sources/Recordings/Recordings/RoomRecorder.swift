import LiveEvents
import Locking
import Synchronization
import SystemSupport

/// An open recording. May be used from any thread.
///
/// Batches that name it in ``RecordedBatch/recorder`` are copied to the recording once the log has
/// synced them.
package final class RoomRecorder: Sendable {
  /// The name of the recording.
  package let name: String
  let number: UInt64
  private let writer: RecordingWriter
  private let status: RecorderStatus

  init(name: String, number: UInt64, writer: RecordingWriter, status: RecorderStatus) {
    (self.name, self.number, self.writer, self.status) = (name, number, writer, status)
  }

  /// Why the recording is incomplete; `nil` while it is complete.
  package var failure: RecordingError? { status.failure }

  /// The number of steps that were posted and not copied yet.
  package var waitingSteps: Int { status.waitingSteps }

  func addWaiting(_ steps: Int) { status.addWaiting(steps) }

  /// Subtracts steps that were lost.
  func removeWaiting(_ steps: Int) { status.removeWaiting(steps) }

  /// Ends the recording after every posted batch is copied.
  ///
  /// - Parameters:
  ///   - digest: the digest of the room's state, if the recording contains every step up to it.
  ///   - endedAt: milliseconds since 1970.
  package func finish(
    digest: String?, endedAt: Int
  ) async throws(RecordingError) -> RecordingSummary {
    try await close(as: .finished, digest, endedAt)
  }

  /// Closes the recording after every posted batch is copied.
  /// ``RecordingLibrary/resume(_:onEvent:)`` can continue it.
  ///
  /// - Parameter endedAt: milliseconds since 1970.
  package func interrupt(endedAt: Int) async throws(RecordingError) {
    _ = try await close(as: .interrupted, nil, endedAt)
  }

  private func close(
    as state: RecordingState, _ digest: String?, _ endedAt: Int
  ) async throws(RecordingError) -> RecordingSummary {
    try await writer.perform { [number] store throws(RecordingError) in
      try store.finish(
        number, as: state, digest: digest, endedAt: endedAt, now: MonotonicClock.nanoseconds())
    }
  }
}

/// Whether a batch is lost, and how many steps are waiting to be copied to a recording. May be used
/// from any thread.
final class RecorderStatus: Sendable {
  private let reason = Guarded<RecordingError?>(nil)
  private let waiting = Atomic<Int>(0)

  init() {}

  var failure: RecordingError? { reason.withLock { $0 } }

  var waitingSteps: Int { waiting.load(ordering: .relaxed) }

  func addWaiting(_ steps: Int) { waiting.wrappingAdd(steps, ordering: .relaxed) }

  /// Subtracts steps that were copied or lost.
  func removeWaiting(_ steps: Int) { waiting.wrappingSubtract(steps, ordering: .relaxed) }

  /// Records the reason for a loss. Keeps only the first reason, and returns `false` for later
  /// ones.
  @discardableResult
  func fail(_ error: RecordingError) -> Bool {
    reason.withLock { reason in
      if reason != nil { return false }
      reason = error
      return true
    }
  }
}
