import FileSystem
import LiveEvents
import RateLimiting

/// What a recorder reports to its room.
package enum RecordingEvent: Sendable, Equatable {
  /// Sent at most once a second.
  case progressed(bytes: Int, durationMs: Int)
  /// The recorder gave up; everything synced before remains.
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
  private var row: RecordingRow
  private var progress = ProgressThinner<(bytes: Int, durationMs: Int)>()
  private(set) var failure: RecordingError?
  private let syncNanoseconds: UInt64
  /// The first log segments with batches from before and after the newest `segmentSynced` line.
  /// That line itself becomes durable with the next sync only. Until then a recovery may need the
  /// log from before it.
  private var beforeMark: Int?
  private var behindMark: Int?
  /// When to sync the newest `segmentSynced` line itself.
  private var markDeadline: UInt64?

  /// Creates the next segment of a recording, whose directory must exist, and enters the recording
  /// into the catalogue.
  ///
  /// - Parameters:
  ///   - segments: the segments that the recording already has.
  ///   - sequence: a log sequence after the last batch in them, and before the first one that will
  ///     be copied.
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
      // The file holds the same information, so failing to write the catalogue does the recording
      // no harm.
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

  /// What only the session knows about a recording until it ends.
  struct Position {
    let row: RecordingRow
    /// The segment that is being written; `nil` if there is none.
    let segment: Int?
  }

  var position: Position { Position(row: row, segment: segments.number) }

  // MARK: Writing

  /// Appends lines that the log has synced. Does nothing if the recording has failed.
  ///
  /// - Parameters:
  ///   - sequence: the log sequence of the last batch.
  ///   - segment: the first log segment with any of the lines.
  func append(_ lines: EncodedLines, upTo sequence: Int, inLog segment: Int, now: UInt64) {
    behindMark = behindMark ?? segment
    attempt { () throws(RecordingError) in
      try segments.append(lines, upTo: sequence, now: now)
    }
  }

  /// Ends a group commit: writes what has been gathered, and syncs it if the time has come.
  func commit(now: UInt64) {
    attempt { () throws(RecordingError) in
      let number = segments.number
      let isDue = markDeadline.map { now >= $0 } ?? false
      let isSynced = try segments.commit(isAwaited: isDue, now: now)
      if segments.number != number {
        // The first line of a segment is synced before anything else.
        (beforeMark, behindMark, markDeadline) = (nil, nil, nil)
      } else if isSynced, isDue || behindMark != nil {
        (beforeMark, behindMark) = (behindMark, nil)
        markDeadline = beforeMark == nil ? nil : now + syncNanoseconds
      }
    }
    if failure == nil { index.note(summary) }
    reportProgress(now)
  }

  /// The first log segment that a recovery of this recording may need; `nil` if it needs none.
  var neededSegment: Int? { beforeMark ?? behindMark }

  /// When ``commit(now:)`` is due even if nothing is appended; `nil` if it is not.
  var deadline: UInt64? {
    // Nothing is written or reported any more. The thread would not sleep until somebody ends the
    // recording.
    guard failure == nil else { return nil }
    let report = progress.deadline.map { UInt64(max(0, $0.nanoseconds)) }
    return [segments.deadline, markDeadline, report].compactMap(\.self).min()
  }

  private func reportProgress(_ now: UInt64) {
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

  /// Closes the recording, as finished or as interrupted, after the last batch was copied.
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
    (beforeMark, behindMark) = (nil, nil)
    saveRow()
    return summary
  }

  /// Ends the recording as failed.
  ///
  /// - Parameter isOwn: whether its own files cannot be written. In that case unsynced bytes are
  ///   cut off, so that the file ends with a complete line.
  func fail(_ error: RecordingError, isOwn: Bool = false) {
    guard failure == nil else { return }
    failure = error
    status.fail(error)
    row.state = RecordingState.failed.rawValue
    row.reason = error.description
    segments.fail(error, cutsUnsynced: isOwn)
    (beforeMark, behindMark) = (nil, nil)
    saveRow()
    onEvent(.failed(error))
  }

  private func attempt(_ body: () throws(RecordingError) -> Void) {
    guard failure == nil else { return }
    do throws(RecordingError) { try body() } catch { fail(error, isOwn: true) }
  }

  /// Saves the row. Failing to do so harms no recording: the files hold the same information.
  private func saveRow() {
    index.note(summary)
    do throws(RecordingError) { try catalogue.save(row) } catch { onProblem("\(error)") }
  }

  /// The recording as written so far.
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
