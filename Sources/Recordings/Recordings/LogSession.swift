import FileSystem
import LiveEvents
import SystemSupport

/// The write-ahead log while it is being written. Belongs to the writer's thread.
///
/// Each run begins a new segment. Segments that neither a room nor a recording needs are removed.
final class LogSession {
  private let directory: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let index: RecordingIndex
  private let onProblem: @Sendable (String) -> Void
  /// The segments of this run; `nil` while none is open.
  private var segments: SegmentSequence?
  /// The numbers of all segments, in ascending order.
  private var numbers: [Int] = []
  /// The file that names the newest segment, so that its loss is noticed.
  private var newest: NewestSegment
  /// The oldest segment that cannot be read. It and all later segments are kept, so that it can be
  /// repaired.
  private var unreadable: Int?
  /// The chain that the next segment continues; `nil` if unknown.
  private var end: LineChain?
  /// The writers of rooms, by their numbers.
  private var writers: [UInt64: Writer] = [:]
  /// The writers that end with the next commit. Until then they are informed of failures.
  private var ending: [UInt64] = []
  /// The rooms by name. Changes that affect ``Room/first`` must be made by ``change(_:_:)``.
  private var rooms: [String: Room] = [:]
  /// For each segment, the number of rooms that need this segment and no older one. Searching all
  /// rooms after each snapshot would take minutes with 50,000 rooms.
  private var firstNeeded: [Int: Int] = [:]
  private var completions: [@Sendable () -> Void] = []
  private var failure: (error: RecordingError, retryAt: UInt64)?
  /// The log of earlier runs; `nil` once a new segment was opened and all recordings are complete.
  private var contents: LogContents?
  /// Whether the recordings of earlier runs were completed from the log.
  private var hasCompletedRecordings = false
  /// Returns the first segment that the recovery of a recording may need; `nil` if there is none.
  var neededByRecordings: () -> Int? = { nil }
  /// Called after a failure to write or sync.
  var onFailure: (RecordingError) -> Void = { _ in }

  private final class Writer {
    /// `nil` if the log does not keep the room's batches.
    let room: Room?
    /// The log sequence of the newest batch.
    var sequence = 0
    let status: RecorderStatus
    let onFailure: @Sendable () -> Void

    init(_ room: Room?, _ status: RecorderStatus, _ onFailure: @escaping @Sendable () -> Void) {
      (self.room, self.status, self.onFailure) = (room, status, onFailure)
    }
  }

  init(
    directory: String, settings: RecordingSettings, progress: RecoveryProgress,
    index: RecordingIndex, onProblem: @escaping @Sendable (String) -> Void
  ) {
    self.index = index
    self.directory = directory
    self.settings = settings
    self.progress = progress
    self.onProblem = onProblem
    newest = NewestSegment(of: directory, on: settings.disk)
  }

  // MARK: The start

  /// Reads the log of earlier runs, cuts off its incomplete end, and reports damage. Later calls
  /// return the same contents.
  ///
  /// - Throws: ``RecordingError/inUse(_:)`` once the log is being written.
  func recover() throws(RecordingError) -> LogContents {
    if let contents { return contents }
    guard segments == nil, failure == nil else { throw .inUse("log") }
    try Directories.create(directory, on: settings.disk)
    numbers = try Directories.names(in: directory, on: settings.disk).compactMap(
      RecordingFiles.number
    )
    .sorted()
    newest.read()
    while let last = numbers.last, last > newest.number, (try? isEmpty(last)) == true {
      try? settings.disk.remove(RecordingFiles.path(of: last, in: directory))
      numbers.removeLast()
    }
    let isMissing =
      newest.number > numbers.last ?? 0
      || newest.number == numbers.last && (try? isEmpty(newest.number)) == true
    var contents = LogContents(newest: newest, disk: settings.disk)
    let sizes = numbers.map { number in
      let path = RecordingFiles.path(of: number, in: directory)
      return (try? InputFile.state(of: path, on: settings.disk).bytes) ?? 0
    }
    progress.begin(bytes: sizes.reduce(0, +))
    defer { progress.begin(bytes: 0) }
    // A newest segment without its lines is left as it is. If it were closed and this start were
    // killed, the next start would not notice the loss.
    for (number, size) in zip(numbers, sizes) where !isMissing || number != newest.number {
      let path = RecordingFiles.path(of: number, in: directory)
      do throws(RecordingError) {
        try contents.read(number, at: path, isLast: number == numbers.last)
      } catch {
        contents.skip(number, at: path, because: error)
        unreadable = unreadable ?? number
      }
      progress.subtract(read: size)
    }
    if isMissing { contents.addMissing(newest.number, in: directory) }
    for problem in contents.problems { onProblem(problem) }
    for (name, room) in contents.rooms {
      // The snapshot of a closed room may still exist. That snapshot would restore the room if the
      // log lost the closing.
      let entry = Room(lives: room.isOpen ? 0 : 1, order: rooms.count)
      rooms[name] = entry
      change(entry) { $0.add(room.firstSegment) }
    }
    end = contents.end
    newest.startedAt = contents.startedAt
    self.contents = contents
    return contents
  }

  /// Records that the recordings of earlier runs were completed from the log.
  func markRecordingsComplete() {
    hasCompletedRecordings = true
    if segments != nil { contents = nil }
  }

  /// Whether a segment contains nothing after its header. The previous segment may then lack its
  /// last line.
  private func isEmpty(_ number: Int) throws(RecordingError) -> Bool {
    let path = RecordingFiles.path(of: number, in: directory)
    let scan = try SegmentReader.scan(path: path, on: settings.disk)
    return scan.isUnwritten
      || (scan.lines == 1 && scan.chain != nil && scan.syncedBytes <= scan.goodBytes)
  }

  // MARK: Rooms

  /// Keeps the batches of a room that its snapshots do not contain, until ``forget(_:)``.
  ///
  /// - Parameter onSnapshotDue: called with the room when a snapshot of it would let the log be
  ///   cut.
  func enter(_ room: String, onSnapshotDue: @escaping @Sendable (String) -> Void) {
    let entry = rooms[room] ?? Room(order: rooms.count)
    rooms[room] = entry
    entry.onSnapshotDue = onSnapshotDue
    entry.lives += 1
  }

  /// Registers the writer of a room.
  ///
  /// - Parameter onFailure: called when the log fails. Later batches of this writer are dropped.
  func begin(
    _ number: UInt64, of room: String, status: RecorderStatus,
    onFailure: @escaping @Sendable () -> Void
  ) {
    writers[number] = Writer(rooms[room], status, onFailure)
  }

  /// Ends a writer with the next commit.
  func end(_ number: UInt64) { ending.append(number) }

  /// Records that a snapshot with all batches that the room has posted is being written.
  func beginSaving(_ room: String) {
    if let entry = rooms[room] { change(entry) { $0.isSaving = true } }
  }

  /// Records that the snapshot is on disk, or could not be written.
  func endSaving(_ room: String, isWritten: Bool) {
    guard let entry = rooms[room], entry.isSaving else { return }
    change(entry) { entry in
      if isWritten {
        (entry.afterPrevious, entry.afterNewest) = (entry.afterNewest, entry.afterNext)
      }
      (entry.isSaving, entry.afterNext) = (false, nil)
    }
    cut()
  }

  /// Releases the batches of a closed room, unless a new room has its name.
  func forget(_ room: String) {
    if let entry = rooms[room] {
      entry.lives -= 1
      if entry.lives <= 0 {
        rooms[room] = nil
        change(entry) { $0.forget() }
      }
    }
    cut()
  }

  /// Changes a room and updates ``firstNeeded``.
  private func change(_ room: Room, _ body: (Room) -> Void) {
    let before = room.first
    body(room)
    let after = room.first
    guard before != after else { return }
    if let after { firstNeeded[after, default: 0] += 1 }
    if let before, let count = firstNeeded[before] {
      firstNeeded[before] = count > 1 ? count - 1 : nil
    }
  }

  // MARK: Writing

  /// Appends a batch, unless an earlier one of the same writer is lost.
  ///
  /// - Parameter copy: the segments of a recording that gather the same lines, except for the mark.
  /// - Returns: the number of the segment that contains the batch; `nil` if it was dropped.
  func append(
    _ batch: RecordedBatch, of number: UInt64, copy: SegmentSequence?, now: UInt64
  ) -> Int? {
    completions += batch.completions
    guard let writer = writers[number], writer.status.failure == nil, !batch.entries.isEmpty
    else { return nil }
    if let sequence = batch.sequence {
      precondition(sequence > writer.sequence, "the log sequences of a room rise")
      writer.sequence = sequence
    }
    var segment: Int?
    attempt(now) { () throws(RecordingError) in
      let segments = try open(now)
      segment = segments.number
      if let room = writer.room, let segment { change(room) { $0.add(segment) } }
      try segments.append(batch, copy: copy, now: now)
    }
    return writer.status.failure == nil ? segment : nil
  }

  /// Drops all later batches of a writer, because a batch is lost.
  func fail(_ number: UInt64, _ error: RecordingError) {
    guard let writer = writers.removeValue(forKey: number) else { return }
    writer.status.fail(error)
    writer.onFailure()
  }

  /// Ends a group commit: writes and syncs, then calls the completions.
  ///
  /// - Parameter isAwaited: whether to sync even without a waiting completion.
  func commit(isAwaited: Bool = false, now: UInt64) {
    let number = segments?.number
    attempt(now) { () throws(RecordingError) in
      try segments?.commit(isAwaited: isAwaited || !completions.isEmpty, now: now)
    }
    if let next = segments?.number, next != number { begun(next) }
    if let number = segments?.number, segments?.hasSyncedLines == true {
      newest.advance(to: number)
    }
    for number in exchange(&ending, with: []) { writers[number] = nil }
    let waiting = completions
    completions = []
    for completion in waiting { completion() }
  }

  /// Whether all appended batches are synced.
  var isSynced: Bool { segments?.isSynced ?? true }

  /// When ``commit(isAwaited:now:)`` must be called at the latest; `nil` if everything is synced.
  var deadline: UInt64? { segments?.deadline }

  private func attempt(_ now: UInt64, _ body: () throws(RecordingError) -> Void) {
    do throws(RecordingError) {
      try body()
    } catch {
      let isNew = failure == nil
      let reason =
        "the write-ahead log cannot be written, so rooms are saved as snapshots: \(error)"
      // The failure is not recorded again for each batch that arrives during the pause.
      if failure.map({ now >= $0.retryAt }) ?? true {
        failure = (error, retryAt: now + Self.pause)
        index.set(logFailure: reason)
      }
      if let failed = exchange(&segments, with: nil) {
        // `end` is set again if the last line of the failed segment can be written.
        end = nil
        failed.fail(error)
      }
      if isNew { onProblem(reason) }
      for writer in exchange(&writers, with: [:]).values {
        writer.status.fail(error)
        writer.onFailure()
      }
      onFailure(error)
    }
  }

  /// How long to wait after a failure before the log is opened again, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000

  /// Returns the segments to append to, and opens the log if necessary.
  private func open(_ now: UInt64) throws(RecordingError) -> SegmentSequence {
    if let segments { return segments }
    if let failure, now < failure.retryAt { throw failure.error }
    try Directories.create(directory, on: settings.disk)
    let number = max(numbers.last ?? 0, newest.number) + 1
    // An unreadable segment may state when the log began.
    if newest.startedAt == 0, unreadable == nil { newest.startedAt = WallClock.milliseconds() }
    let opened = try SegmentSequence(
      SegmentHeader(name: "log", room: "", segment: number, startedAt: newest.startedAt),
      after: (SegmentContents(), 0, 0, end), directory: directory, settings: settings,
      syncNanoseconds: settings.syncNanoseconds, now: now
    ) { [unowned self] segment, _ in end = segment.chain }
    end = nil
    if hasCompletedRecordings { contents = nil }
    segments = opened
    failure = nil
    index.set(logFailure: nil)
    begun(number)
    return opened
  }

  // MARK: Cutting

  /// Adds a new segment, and requests the snapshots that let old segments be removed.
  private func begun(_ number: Int) {
    numbers.append(number)
    let ahead = Self.segmentsAhead(of: rooms.count)
    for (name, room) in rooms {
      guard !room.isSaving, let first = room.first else { continue }
      // The snapshots of different rooms are spread over time. So are the two snapshots of one room
      // that must be saved before the log can be cut.
      if number - first >= ahead - room.order % (ahead / 2),
        room.afterNewest.map({ number - $0 >= ahead / 2 }) ?? true
      {
        room.onSnapshotDue?(name)
      }
    }
    cut()
  }

  /// Returns the number of segments between the older snapshot of a room and the request for a new
  /// one; an even number.
  ///
  /// Snapshots should not write more bytes than the log. The snapshot of a busy room has 100 to 200
  /// KB, and its share of the log between two snapshots is then 128 KiB.
  private static func segmentsAhead(of rooms: Int) -> Int {
    min(max(rooms / 256, 1), 16) * 2
  }

  /// Removes segments that neither a room nor a recording needs. The oldest is removed first, so
  /// that the remaining segments are contiguous.
  private func cut() {
    guard numbers.count > 1 else { return }
    let uncompleted =
      hasCompletedRecordings
      ? nil : contents?.recordings.values.lazy.map(\.segments.lowerBound).min()
    let needed = min(
      firstNeeded.keys.min() ?? .max, neededByRecordings() ?? .max, uncompleted ?? .max,
      unreadable ?? .max)
    while numbers.count > 1, let oldest = numbers.first, oldest < needed {
      Invariants.check(
        rooms.values.allSatisfy { $0.first ?? .max > oldest },
        "no room needs a segment that is removed")
      precondition(oldest != segments?.number, "the segment being written is never removed")
      do throws(RecordingError) {
        _ = try Directories.remove(
          RecordingFiles.path(of: oldest, in: directory), on: settings.disk)
        try Directories.sync(directory, on: settings.disk)
      } catch {
        return
      }
      numbers.removeFirst()
    }
  }
}
