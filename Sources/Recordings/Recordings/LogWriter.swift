import SystemSupport

/// Writes one room's batches to the write-ahead log, which all rooms share. May be used from any
/// thread.
///
/// After a batch is lost, all later ones are dropped. The room then needs a new writer, and a
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

  /// Why a posted batch will never be on disk; `nil` while none is lost.
  package var failure: RecordingError? { status.failure }

  /// Whether so many batches wait for the disk that senders should be held back.
  package var isBehind: Bool {
    load.steps > settings.highWater || writer.load.bytes > settings.highWaterBytes
  }

  /// Queues a batch. Never blocks; the cost does not depend on the number of events.
  package func post(_ batch: RecordedBatch) {
    // Once something is lost, nothing may be written after it.
    if status.failure != nil {
      for completion in batch.completions { completion() }
      return
    }
    guard load.add(batch) <= settings.maximumWaiting else { return overrun(batch) }
    batch.recorder?.noteHandedOver(batch.stepCount)
    writer.post(batch, of: number, load)
  }

  /// Drops a batch because the disk has stalled and memory is finite. The room's recording fails.
  private func overrun(_ batch: RecordedBatch) {
    load.subtract(batch)
    // Before the completions, so that none of them takes this or a later batch for written.
    let isFirst = status.fail(.diskTooSlow)
    for completion in batch.completions { completion() }
    guard isFirst else { return }
    writer.submit { [number, recording = batch.recorder?.number] in
      $0.fail(number, .diskTooSlow, recording: recording)
    }
  }

  /// Calls `completion` after every batch posted before is on disk, or lost.
  package func whenSynced(_ completion: @escaping @Sendable () -> Void) {
    var batch = RecordedBatch()
    batch.whenSynced(completion)
    post(batch)
  }

  /// Ends the writer. Batches posted before are still written.
  package func end() { writer.submit { [number] in $0.log.end(number) } }
}
