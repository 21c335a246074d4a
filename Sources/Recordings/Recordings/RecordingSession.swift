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
  private let directory: String
  private let catalogue: Catalogue
  private let settings: RecordingSettings
  private let index: RecordingIndex
  private let status: RecorderStatus
  private let onEvent: @Sendable (RecordingEvent) -> Void
  private let onProblem: @Sendable (String) -> Void
  private var row: RecordingRow
  private var segment: SegmentWriter?
  private var closed = SegmentContents()
  private var closedBytes = 0
  private var segmentCount = 1
  private var completions: [@Sendable () -> Void] = []
  private var progress = ProgressThinner<(bytes: Int, durationMs: Int)>()
  /// Monotonic time of the oldest unsynced byte; `nil` if there is none.
  private var unsyncedSince: UInt64?
  private(set) var failure: RecordingError?

  /// Creates the next segment of a recording, whose directory must exist, and enters the recording
  /// into the catalogue.
  ///
  /// - Parameter segments: the segments that the recording already has.
  init(
    row: RecordingRow, after segments: [SegmentRow] = [], directory: String, catalogue: Catalogue,
    settings: RecordingSettings, index: RecordingIndex, now: UInt64, status: RecorderStatus,
    onEvent: @escaping @Sendable (RecordingEvent) -> Void,
    onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.row = row
    self.directory = directory
    self.catalogue = catalogue
    self.settings = settings
    self.index = index
    self.status = status
    self.onEvent = onEvent
    self.onProblem = onProblem
    for segment in segments {
      closed.append(segment.contents)
      closedBytes += segment.bytes
    }
    segmentCount = segments.count + 1
    segment = try makeSegment((segments.last?.number ?? 0) + 1, now)
    saveRow()
  }

  var name: String { row.name }

  /// What only the session knows about a recording until it ends.
  struct Position {
    let row: RecordingRow
    /// The segment that is being written; `nil` if there is none.
    let segment: Int?
  }

  var position: Position { Position(row: row, segment: segment?.number) }

  private func makeSegment(_ number: Int, _ now: UInt64) throws(RecordingError) -> SegmentWriter {
    let header = SegmentHeader(
      name: row.name, room: row.room, segment: number, startedAt: row.startedAt)
    let writer = try SegmentWriter(
      header: header, path: RecordingFiles.path(of: number, in: directory), now: now,
      disk: settings.disk)
    try Directories.sync(directory)
    return writer
  }

  // MARK: Writing

  /// Takes a batch, whose entries are dropped if the recording has failed.
  func append(_ batch: RecordedBatch, now: UInt64) {
    completions += batch.completions
    guard failure == nil, segment != nil else { return }
    if unsyncedSince == nil { unsyncedSince = now }
    attempt { () throws(RecordingError) in
      for entry in batch.entries { try segment?.append(entry) }
    }
  }

  /// Ends a group commit: writes what has been gathered, and syncs it if a completion is waiting or
  /// the time has come.
  func commit(now: UInt64) {
    let isDue = unsyncedSince.map { now >= $0 + settings.syncNanoseconds } ?? false
    attempt { () throws(RecordingError) in
      if !completions.isEmpty || isDue {
        try segment?.sync()
        unsyncedSince = nil
      } else {
        try segment?.write()
      }
      try rotate(now)
    }
    if failure == nil { index.note(summary) }
    callCompletions()
    reportProgress(now)
  }

  /// When ``commit(now:)`` is due even if nothing is appended; `nil` if it is not.
  var deadline: UInt64? {
    let sync = unsyncedSince.map { $0 + settings.syncNanoseconds }
    let report = progress.deadline.map { UInt64(max(0, $0.nanoseconds)) }
    return [sync, report].compactMap(\.self).min()
  }

  /// Ends the wait of all completions: everything that could be synced is.
  private func callCompletions() {
    let waiting = completions
    completions = []
    for completion in waiting { completion() }
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

  private func rotate(_ now: UInt64) throws(RecordingError) {
    guard let current = segment?.number, let bytes = segment?.bytes,
      let createdAt = segment?.createdAt,
      bytes >= settings.segmentBytes || now >= createdAt + settings.segmentNanoseconds
    else { return }
    let next = try makeSegment(current + 1, now)
    try closeSegment { _ in }
    segment = next
    segmentCount += 1
  }

  private func closeSegment(_ complete: (inout SegmentEnd) -> Void) throws(RecordingError) {
    guard let end = try segment?.finish(complete), let contents = segment?.contents,
      let number = segment?.number
    else { return }
    segment = nil
    enter(number, contents, bytes: end.bytes, crc32: end.crc32)
  }

  /// Enters a closed segment into the catalogue. The file holds the same information, so failing to
  /// write the catalogue does the recording no harm.
  private func enter(_ number: Int, _ contents: SegmentContents, bytes: Int, crc32: String) {
    closed.append(contents)
    closedBytes += bytes
    do throws(RecordingError) {
      let path = RecordingFiles.path(of: number, in: directory)
      try catalogue.save(try RecordingFiles.row(row.name, number, path, contents, crc32: crc32))
    } catch {
      onProblem("\(error)")
    }
  }

  // MARK: The end

  /// Closes the recording, as finished or as interrupted.
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
        try closeSegment { end in
          end.state = state
          end.endedAt = endedAt
          end.digest = digest
        }
      }
    }
    callCompletions()
    saveRow()
    return summary
  }

  /// Gives up: cuts off everything that is not synced, so that the file ends with a whole line.
  func fail(_ error: RecordingError) {
    guard failure == nil else { return }
    failure = error
    // Before the completions are called, which read it.
    status.fail(error)
    row.state = RecordingState.failed.rawValue
    row.reason = error.description
    unsyncedSince = nil
    do throws(RecordingError) {
      try segment?.cutUnsynced()
      // On a full disk, cutting freed the space for this last line.
      try closeSegment { end in
        end.state = .failed
        end.reason = error.description
      }
    } catch {
      leaveSegmentOpen()
    }
    saveRow()
    callCompletions()
    onEvent(.failed(error))
  }

  /// Leaves a segment whose last line could not be written as it is; the next start examines it.
  private func leaveSegmentOpen() {
    if let synced = segment?.synced {
      closed.append(synced.contents)
      closedBytes += synced.bytes
    }
    segment = nil
  }

  private func attempt(_ body: () throws(RecordingError) -> Void) {
    guard failure == nil else { return }
    do throws(RecordingError) { try body() } catch { fail(error) }
  }

  /// Saves the row. Failing to do so harms no recording: the files hold the same information.
  private func saveRow() {
    index.note(summary)
    do throws(RecordingError) { try catalogue.save(row) } catch { onProblem("\(error)") }
  }

  /// The recording as written so far.
  var summary: RecordingSummary {
    var whole = closed
    if let segment { whole.append(segment.contents) }
    return RecordingSummary(
      name: row.name, room: row.room,
      state: RecordingState(rawValue: row.state) ?? .recording, reason: row.reason,
      startedAt: row.startedAt, endedAt: row.endedAt, events: whole.events,
      frames: whole.frames, bytes: closedBytes + (segment?.bytes ?? 0),
      durationMs: whole.durationMilliseconds,
      segments: segmentCount, digest: row.digest)
  }
}
