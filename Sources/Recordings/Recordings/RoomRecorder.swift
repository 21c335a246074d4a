import LiveEvents
import Platform

/// The room's end of a recording, or of the log that all rooms share. May be used from any thread.
package final class RoomRecorder: Sendable {
  /// The name of the recording; empty for the log.
  package let name: String
  private let number: UInt64
  private let writer: RecordingWriter
  private let settings: RecordingSettings
  private let load: RecorderLoad
  private let status: RecorderStatus

  init(
    name: String, number: UInt64, writer: RecordingWriter, settings: RecordingSettings,
    status: RecorderStatus
  ) {
    self.name = name
    self.number = number
    self.writer = writer
    self.settings = settings
    load = RecorderLoad(of: writer.load)
    self.status = status
  }

  /// The number of the room's session in the log.
  package var session: Int { Int(number) }

  /// Why something that was handed over will never be on disk; `nil` while all of it is, or still
  /// may be.
  package var failure: RecordingError? { status.failure }

  /// Whether so much is waiting for the disk that senders should be held back.
  package var isBehind: Bool {
    load.steps > settings.highWater || writer.load.bytes > settings.highWaterBytes
  }

  /// How many steps wait for the disk.
  package var waitingSteps: Int { load.steps }

  /// Hands over what the room did. Never blocks; the cost does not depend on the number of events.
  package func post(_ batch: RecordedBatch) {
    // Once something is lost, nothing may be written after it.
    if status.failure != nil {
      for completion in batch.completions { completion() }
      return
    }
    guard load.add(batch) <= settings.maximumWaiting else { return overrun(batch) }
    writer.post(batch, to: number, load)
  }

  /// The disk has stalled and memory is finite: this batch is lost, and the recording fails.
  private func overrun(_ batch: RecordedBatch) {
    load.subtract(batch)
    // Before the completions, so that none of them takes this or a later batch for written.
    let isFirst = status.fail(.diskTooSlow)
    for completion in batch.completions { completion() }
    guard isFirst else { return }
    Task { [writer, number] in
      try? await writer.perform { $0.fail(number, .diskTooSlow) }
    }
  }

  /// Ends a session in the log. What was handed over is still written.
  package func endSession() { writer.submit { [number] in $0.log.end(number) } }

  /// Ends the recording once everything handed over is written.
  ///
  /// - Parameters:
  ///   - digest: the digest of the room's state, if the recording holds everything that led to it.
  ///   - endedAt: milliseconds since 1970.
  package func finish(
    digest: String?, endedAt: Int
  ) async throws(RecordingError) -> RecordingSummary {
    try await writer.perform { [number] store throws(RecordingError) in
      try store.finish(number, as: .finished, digest: digest, endedAt: endedAt)
    }
  }

  /// Closes the recording once everything handed over is written, so that
  /// ``RecordingLibrary/resume(_:onEvent:)`` can continue it later.
  ///
  /// - Parameter endedAt: milliseconds since 1970.
  package func interrupt(endedAt: Int) async throws(RecordingError) {
    try await writer.perform { [number] store throws(RecordingError) in
      _ = try store.finish(number, as: .interrupted, digest: nil, endedAt: endedAt)
    }
  }
}

/// Whether a recording has lost anything that was handed over. May be used from any thread.
final class RecorderStatus: Sendable {
  private let reason = Guarded<RecordingError?>(nil)

  init() {}

  var failure: RecordingError? { reason.withLock { $0 } }

  /// Notes that something is lost. Returns `false` if something already was; the first reason is
  /// kept.
  @discardableResult
  func fail(_ error: RecordingError) -> Bool {
    reason.withLock { reason in
      if reason != nil { return false }
      reason = error
      return true
    }
  }
}
