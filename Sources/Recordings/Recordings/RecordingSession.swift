import RateLimiting

/// What a recorder tells its room.
package enum RecorderNews: Sendable, Equatable {
  /// Thinned to at most one a second.
  case progressed(bytes: Int, durationMs: Int)
  /// It gave up; what was synced before stays.
  case failed(RecordingError)
}

/// One recording while it is written. Belongs to the writer's thread.
final class RecordingSession {
  private let directory: String
  private let catalogue: Catalogue
  private let settings: RecordingSettings
  private let fate: RecorderFate
  private let onNews: @Sendable (RecorderNews) -> Void
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

  /// Makes the first segment of a recording, or the one after those that it has, and enters the
  /// recording into the catalogue. Its directory is there.
  init(
    row: RecordingRow, after segments: [SegmentRow] = [], directory: String, catalogue: Catalogue,
    settings: RecordingSettings, now: UInt64, fate: RecorderFate,
    onNews: @escaping @Sendable (RecorderNews) -> Void,
    onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.row = row
    self.directory = directory
    self.catalogue = catalogue
    self.settings = settings
    self.fate = fate
    self.onNews = onNews
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

  /// What only the session knows of a recording, until it ends.
  struct Position {
    let row: RecordingRow
    /// The segment that is being written.
    let segment: Int?
  }

  var position: Position { Position(row: row, segment: segment?.number) }

  private func makeSegment(_ number: Int, _ now: UInt64) throws(RecordingError) -> SegmentWriter {
    let header = SegmentHeader(
      name: row.name, room: row.room, segment: number, startedAt: row.startedAt)
    let writer = try SegmentWriter(
      header: header, path: RecordingFiles.path(of: number, in: directory), now: now)
    try Directories.sync(directory)
    return writer
  }

  // MARK: Writing

  /// Takes a batch; what a failure before left no place for is dropped.
  func append(_ batch: RecordedBatch, now: UInt64) {
    completions += batch.completions
    guard failure == nil, segment != nil else { return }
    if unsyncedSince == nil { unsyncedSince = now }
    attempt { () throws(RecordingError) in
      for entry in batch.entries { try segment?.append(entry) }
    }
  }

  /// Ends a group: writes what is gathered, and syncs it if somebody waits or it is time.
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
    complete()
    tellProgress(now)
  }

  /// When ``commit(now:)`` is due without anything new; `nil` if nothing waits for time.
  var deadline: UInt64? {
    let sync = unsyncedSince.map { $0 + settings.syncNanoseconds }
    let told = progress.deadline.map { UInt64(max(0, $0.nanoseconds)) }
    return [sync, told].compactMap(\.self).min()
  }

  /// Nobody waits any more: what could be synced is.
  private func complete() {
    let waiting = completions
    completions = []
    for completion in waiting { completion() }
  }

  private func tellProgress(_ now: UInt64) {
    guard failure == nil else { return }
    let now = Instant(nanoseconds: Int64(now))
    let summary = summary
    let value = (bytes: summary.bytes, durationMs: summary.durationMs)
    let step = progress.push(value, completed: UInt64(summary.bytes), total: nil, at: now)
    if let due = step.output ?? progress.wake(at: now).output {
      onNews(.progressed(bytes: due.bytes, durationMs: due.durationMs))
    }
  }

  private func rotate(_ now: UInt64) throws(RecordingError) {
    guard let current = segment?.number, let bytes = segment?.bytes, let made = segment?.made,
      bytes >= settings.segmentBytes || now >= made + settings.segmentNanoseconds
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

  /// Enters a closed segment into the catalogue. The file tells the same, so that a catalogue which
  /// cannot be written does no harm to the recording.
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
    as state: RecordingSummary.State, digest: String?, endedAt: Int
  ) -> RecordingSummary {
    row.endedAt = endedAt
    // Something may be lost that did not get this far.
    if let lost = fate.failure { fail(lost) }
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
    complete()
    saveRow()
    return summary
  }

  /// Gives up: cuts what is not synced, so that the file holds whole lines.
  func fail(_ error: RecordingError) {
    guard failure == nil else { return }
    failure = error
    // Before anybody hears that the wait is over.
    fate.fail(error)
    row.state = RecordingSummary.State.failed.rawValue
    row.reason = error.description
    unsyncedSince = nil
    do throws(RecordingError) {
      try segment?.cut()
      // What was cut made place for a last line, if that was what lacked.
      try closeSegment { end in
        end.state = .failed
        end.reason = error.description
      }
    } catch {
      keepOpenSegment()
    }
    saveRow()
    complete()
    onNews(.failed(error))
  }

  /// The last line could not be written: the segment stays as it is, and the next start looks at it.
  private func keepOpenSegment() {
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

  /// A catalogue that cannot be written does no harm to the recording: the files tell the same.
  private func saveRow() {
    do throws(RecordingError) { try catalogue.save(row) } catch { onProblem("\(error)") }
  }

  /// What is written so far.
  var summary: RecordingSummary {
    var whole = closed
    if let segment { whole.append(segment.contents) }
    let first = whole.first ?? 0
    let last = whole.last ?? first
    return RecordingSummary(
      name: row.name, room: row.room,
      state: RecordingSummary.State(rawValue: row.state) ?? .recording, reason: row.reason,
      startedAt: row.startedAt, endedAt: row.endedAt, events: whole.events,
      frames: whole.frames, bytes: closedBytes + (segment?.bytes ?? 0),
      durationMs: Int((last - first) / 1_000_000), segments: segmentCount, digest: row.digest)
  }
}
