import FileSystem
import LiveEvents
import RateLimiting

/// A report to the room that is being recorded.
package enum RecordingEvent: Sendable, Equatable {
  /// The size and the duration changed. Sent at most once a second.
  case progressed(bytes: Int, durationMs: Int)
  /// The recording failed. The recording contains everything that was synced before the failure.
  case failed(RecordingError)
}

/// A recording while it is being written. Belongs to the writer's thread.
final class RecordingSession {
  private let catalogue: Catalogue
  private let index: RecordingIndex
  private let status: RecorderStatus
  private let onEvent: @Sendable (RecordingEvent) -> Void
  private let onProblem: @Sendable (String) -> Void
  private let segments: SegmentSequence
  private(set) var row: RecordingRow
  private var progress = ProgressThinner<(bytes: Int, durationMs: Int)>()
  private(set) var failure: RecordingError?
  private let syncNanoseconds: UInt64
  /// The first log segments with batches before and after the newest `segmentSynced` line. That
  /// line is synced only with the next lines. Until then, a recovery may need the log from before
  /// it.
  private var beforeMark: Int?
  private var afterMark: Int?
  /// When to sync the newest `segmentSynced` line itself.
  private var markDeadline: UInt64?
  /// The number of steps that are gathered and not written.
  private var gatheredSteps = 0

  /// Creates the next segment of a recording, and enters the recording into the catalogue. The
  /// directory must exist.
  ///
  /// - Parameters:
  ///   - segments: the segments that the recording already has.
  ///   - sequence: a log sequence; all batches in these segments have at most this one, and all
  ///     batches that will be copied have larger ones.
  init(
    row: RecordingRow, after segments: [SegmentRow] = [], _ sequence: Int, directory: String,
    catalogue: Catalogue,
    settings: RecordingSettings, index: RecordingIndex, now: UInt64, status: RecorderStatus,
    onEvent: @escaping @Sendable (RecordingEvent) -> Void,
    onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.row = row
    self.catalogue = catalogue
    self.index = index
    self.status = status
    self.onEvent = onEvent
    self.onProblem = onProblem
    syncNanoseconds = settings.recordingSyncNanoseconds
    var contents = SegmentContents()
    for segment in segments { contents.append(segment.contents) }
    self.segments = try SegmentSequence(
      SegmentHeader(
        name: row.name, room: row.room, segment: (segments.last?.number ?? 0) + 1,
        startedAt: row.startedAt, sequence: sequence),
      after: (
        contents, segments.reduce(0) { $0 + $1.bytes }, segments.count, segments.last?.chain
      ),
      directory: directory, settings: settings,
      syncNanoseconds: settings.recordingSyncNanoseconds, now: now
    ) { segment, bytes in
      // The file contains the same information, so a failure of the catalogue does not harm the
      // recording.
      do throws(RecordingError) {
        let path = RecordingFiles.path(of: segment.number, in: directory)
        try catalogue.save([
          try RecordingFiles.row(
            row.name, segment.number, path, segment.contents, chain: segment.chain,
            previous: segment.previous, on: settings.disk)
        ])
      } catch {
        onProblem("\(error)")
      }
    }
    saveRow()
  }

  var name: String { row.name }

  /// The number of the segment being written; `nil` if there is none.
  var segment: Int? { segments.number }

  // MARK: Writing

  /// The segments that gather the lines of the log; `nil` if the recording has failed.
  var copy: SegmentSequence? { failure == nil ? segments : nil }
  /// The number of bytes that are gathered and not written.
  var gatheredBytes: Int { segments.gatheredBytes }

  /// Records that a batch was gathered.
  ///
  /// - Parameter segment: the log segment that contains the batch.
  func addGathered(_ steps: Int, inLog segment: Int) {
    gatheredSteps += steps
    afterMark = afterMark ?? segment
  }

  /// Ends a group commit: writes all gathered lines, and syncs them if the deadline has passed. The
  /// log must have synced these lines before.
  func commit(now: UInt64) {
    status.removeWaiting(exchange(&gatheredSteps, with: 0))
    attempt { () throws(RecordingError) in
      let number = segments.number
      let isDue = markDeadline.map { now >= $0 } ?? false
      let isSynced = try segments.commit(isAwaited: isDue, now: now)
      if segments.number != number {
        // The header of the new segment is synced, and states the log sequence.
        (beforeMark, afterMark, markDeadline) = (nil, nil, nil)
      } else if isSynced, isDue || afterMark != nil {
        (beforeMark, afterMark) = (afterMark, nil)
        markDeadline = beforeMark == nil ? nil : now + syncNanoseconds
      }
    }
    if failure == nil { index.enter(summary) }
    reportProgress(now)
  }

  /// The first log segment that a recovery of this recording may need; `nil` if none.
  var neededSegment: Int? { beforeMark ?? afterMark }

  /// When ``commit(now:)`` must be called at the latest; `nil` if nothing is due.
  var deadline: UInt64? {
    // A failed recording writes and reports nothing. With a deadline in the past, the thread would
    // never sleep.
    guard failure == nil else { return nil }
    let report = progress.deadline.map { UInt64(max(0, $0.nanoseconds)) }
    return [writeDeadline, report].compactMap(\.self).min()
  }

  /// When to sync; `nil` if everything is synced.
  var writeDeadline: UInt64? {
    failure == nil ? [segments.deadline, markDeadline].compactMap(\.self).min() : nil
  }

  func reportProgress(_ now: UInt64) {
    guard failure == nil else { return }
    let now = Instant(nanoseconds: Int64(now))
    let summary = summary
    let value = (bytes: summary.bytes, durationMs: summary.durationMs)
    let step = progress.push(value, completed: UInt64(summary.bytes), total: nil, at: now)
    if let due = step.output ?? progress.wake(at: now).output {
      onEvent(.progressed(bytes: due.bytes, durationMs: due.durationMs))
    }
  }

  // MARK: The end

  /// Closes the recording after the last batch was copied.
  ///
  /// - Parameter state: `finished` or `interrupted`.
  func finish(
    as state: RecordingState, digest: String?, endedAt: Int
  ) -> RecordingSummary {
    row.endedAt = endedAt
    // A batch may have been lost before it reached this thread.
    if let lost = status.failure { fail(lost) }
    if failure == nil {
      row.state = state.rawValue
      row.digest = digest
      attempt { () throws(RecordingError) in
        try segments.close { end in
          end.state = state
          end.endedAt = endedAt
          end.digest = digest
        }
      }
    }
    (beforeMark, afterMark) = (nil, nil)
    saveRow()
    return summary
  }

  /// Ends the recording as failed.
  ///
  /// - Parameter isOwn: whether the files of the recording cannot be written. If so, unsynced bytes
  ///   are cut off, so that the file ends with a complete line.
  func fail(_ error: RecordingError, isOwn: Bool = false) {
    guard failure == nil else { return }
    failure = error
    status.fail(error)
    row.state = RecordingState.failed.rawValue
    row.reason = error.description
    segments.fail(error, cutsUnsynced: isOwn)
    status.removeWaiting(exchange(&gatheredSteps, with: 0))
    (beforeMark, afterMark) = (nil, nil)
    saveRow()
    onEvent(.failed(error))
  }

  private func attempt(_ body: () throws(RecordingError) -> Void) {
    guard failure == nil else { return }
    do throws(RecordingError) { try body() } catch { fail(error, isOwn: true) }
  }

  /// Saves the row. A failure does not harm the recording: its files contain the same information.
  private func saveRow() {
    index.enter(summary)
    do throws(RecordingError) { try catalogue.save(row) } catch { onProblem("\(error)") }
  }

  /// The properties of the recording at present.
  var summary: RecordingSummary {
    let contents = segments.contents
    return RecordingSummary(
      name: row.name, room: row.room,
      state: RecordingState(rawValue: row.state) ?? .recording, reason: row.reason,
      startedAt: row.startedAt, endedAt: row.endedAt, events: contents.events,
      frames: contents.frames, bytes: segments.bytes,
      durationMs: contents.durationMilliseconds,
      segments: segments.count, digest: row.digest)
  }
}
