import SystemSupport

/// Writes one room's batches to the write-ahead log, which all rooms share. May be used from any
/// thread.
///
/// Once a batch is lost, all later ones are dropped. The room then needs a new writer and a
/// snapshot that replaces the lost batches.
package final class LogWriter: Sendable {
  private let number: UInt64
  private let writer: RecordingWriter
  private let settings: RecordingSettings
  private let load: RecorderLoad
  private let status: RecorderStatus
  private let sequence: LogSequence

  init(
    number: UInt64, writer: RecordingWriter, settings: RecordingSettings, status: RecorderStatus,
    sequence: LogSequence
  ) {
    self.number = number
    self.writer = writer
    self.settings = settings
    load = RecorderLoad(of: writer.load)
    self.status = status
    self.sequence = sequence
  }

  /// Returns the log sequence for the next batch.
  package func nextSequence() -> Int { sequence.next() }

  /// Why a posted batch will never reach the disk; `nil` while none is lost.
  package var failure: RecordingError? { status.failure }

  /// Whether senders should be held back because too many batches are waiting for the disk.
  package var isBehind: Bool {
    load.steps > settings.highWater || writer.load.bytes > settings.highWaterBytes
  }

  /// Queues a batch. Never blocks; the cost does not depend on the number of events.
  package func post(_ batch: RecordedBatch) {
    // A batch after a lost one could not be replayed.
    if status.failure != nil {
      for completion in batch.completions { completion() }
      return
    }
    guard load.add(batch) <= settings.maximumWaiting else { return overrun(batch) }
    batch.recorder?.addWaiting(batch.stepCount)
    writer.post(batch, of: number, load)
  }

  /// Drops a batch because the disk has stalled. Its recording, if it has one, fails.
  private func overrun(_ batch: RecordedBatch) {
    load.subtract(batch)
    // The failure is set before the completions run, so that they see the batch as lost.
    let isFirst = status.fail(.diskTooSlow)
    for completion in batch.completions { completion() }
    guard isFirst else { return }
    writer.submit { [number, recording = batch.recorder?.number] in
      $0.fail(number, .diskTooSlow, recording: recording)
    }
  }

  /// Calls `completion` once every batch posted before is on disk or lost.
  package func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    var batch = RecordedBatch()
    batch.whenSynced(completion)
    post(batch)
  }

  /// Ends the writer. Batches posted before this call are still written.
  package func end() { writer.submit { [number] in $0.log.end(number) } }
}
