import FileSystem
import LiveEvents
import SystemSupport

/// The log that all rooms share, while it is being written. Belongs to the writer's thread.
///
/// It goes on in the next segment whenever it is opened. Segments that no room needs any more are
/// removed.
final class LogSession {
  private let directory: String
  private let settings: RecordingSettings
  private let progress: RecoveryProgress
  private let index: RecordingIndex
  private let onProblem: @Sendable (String) -> Void
  /// The segment that is being written, and those of this run before it; `nil` while there is none.
  private var segments: SegmentSequence?
  /// The numbers of all segments, in order.
  private var numbers: [Int] = []
  /// Says which segment is the newest, so that it is missed if it is gone.
  private var newest: NewestSegment
  /// The oldest segment that cannot be read. Nothing from there on is removed, so that it can be
  /// mended.
  private var unreadable: Int?
  /// What the next segment continues, if it is known.
  private var end: LineChain?
  /// The rooms' writers, by their numbers.
  private var writers: [UInt64: Writer] = [:]
  /// Those that end with the next commit, of which they still have to hear.
  private var ending: [UInt64] = []
  /// Changed by ``change(_:_:)`` only, as far as that changes ``Room/first``.
  private var rooms: [String: Room] = [:]
  /// How many rooms need which segment first: to look through all of them whenever one is saved
  /// takes minutes with 50,000.
  private var firstNeeded: [Int: Int] = [:]
  private var completions: [@Sendable () -> Void] = []
  private var failure: (error: RecordingError, retryAt: UInt64)?
  /// What earlier runs left; `nil` once something new is in the log, and the recordings are
  /// completed.
  private var contents: LogContents?
  /// Whether all recordings are completed that were being written when the program ended.
  private var hasCompletedRecordings = false
  /// Returns the first segment that the recovery of a recording may need; `nil` if there is none.
  var neededByRecordings: () -> Int? = { nil }
  /// Called after a failure to write or sync.
  var onFailure: (RecordingError) -> Void = { _ in }

  private final class Writer {
    /// `nil` if nothing of it is kept.
    let room: Room?
    let status: RecorderStatus
    let onFailure: @Sendable () -> Void

    init(_ room: Room?, _ status: RecorderStatus, _ onFailure: @escaping @Sendable () -> Void) {
      (self.room, self.status, self.onFailure) = (room, status, onFailure)
    }
  }

  /// What of the log a room needs: lines behind its newest snapshot and the one before.
  private final class Room {
    var onSnapshotDue: (@Sendable (String) -> Void)?
    /// The first segments with lines behind either of them, and behind the one that is being
    /// written; `nil` if there are no such lines.
    var behindPrevious: Int?
    var behindNewest: Int?
    var behindNext: Int?
    var isSaving = false
    /// How many rooms of this name are there: a new one may be open before the closing of the old
    /// one is done.
    var lives: Int
    /// Whether nothing of it is needed any more, though it may write on for a moment.
    private(set) var isForgotten = false
    /// Tells rooms apart that have to do the same.
    let order: Int

    var first: Int? { behindPrevious ?? behindNewest ?? (isSaving ? behindNext : nil) }

    init(lives: Int = 0, order: Int) { (self.lives, self.order) = (lives, order) }

    func note(_ segment: Int) {
      guard !isForgotten else { return }
      behindPrevious = behindPrevious ?? segment
      behindNewest = behindNewest ?? segment
      if isSaving { behindNext = behindNext ?? segment }
    }

    func forget() {
      isForgotten = true
      (behindPrevious, behindNewest, behindNext) = (nil, nil, nil)
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

  /// Reads what earlier runs left, cuts off what was being written when the last one ended, and
  /// tells about damage: once, and not while something new is being written.
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
    // One without its lines is left as it is. If it were closed, and this start is killed, nothing
    // would tell the next one that they are gone.
    for (number, size) in zip(numbers, sizes) where !isMissing || number != newest.number {
      let path = RecordingFiles.path(of: number, in: directory)
      do throws(RecordingError) {
        try contents.read(number, at: path, isLast: number == numbers.last)
      } catch {
        contents.skip(number, at: path, because: error)
        unreadable = unreadable ?? number
      }
      progress.note(read: size)
    }
    if isMissing { contents.noteMissing(newest.number, in: directory) }
    for problem in contents.problems { onProblem(problem) }
    for (name, room) in contents.rooms {
      // What is saved of a closed one may not be gone yet, and would bring it back without its
      // closing.
      let entry = Room(lives: room.isOpen ? 0 : 1, order: rooms.count)
      rooms[name] = entry
      change(entry) { $0.note(room.firstSegment) }
    }
    end = contents.end
    newest.startedAt = contents.startedAt
    self.contents = contents
    return contents
  }

  /// Notes that all recordings are completed that were being written when the program ended.
  func noteCompletedRecordings() {
    hasCompletedRecordings = true
    if segments != nil { contents = nil }
  }

  /// Whether a segment was created, but nothing more than its first line was written. Then the one
  /// before it may lack its last line.
  private func isEmpty(_ number: Int) throws(RecordingError) -> Bool {
    let path = RecordingFiles.path(of: number, in: directory)
    let scan = try SegmentReader.scan(path: path, on: settings.disk)
    return scan.isUnwritten
      || (scan.lines == 1 && scan.chain != nil && scan.syncedBytes <= scan.goodBytes)
  }

  // MARK: Rooms

  /// - Parameter onSnapshotDue: called with the room when a snapshot of it would let the log be
  ///   cut.
  func enter(_ room: String, onSnapshotDue: @escaping @Sendable (String) -> Void) {
    let entry = rooms[room] ?? Room(order: rooms.count)
    rooms[room] = entry
    entry.onSnapshotDue = onSnapshotDue
    entry.lives += 1
  }

  /// Registers a room's writer.
  ///
  /// - Parameter onFailure: called when the log fails. Later batches of this writer are dropped.
  func begin(
    _ number: UInt64, of room: String, status: RecorderStatus,
    onFailure: @escaping @Sendable () -> Void
  ) {
    writers[number] = Writer(rooms[room], status, onFailure)
  }

  func end(_ number: UInt64) { ending.append(number) }

  /// Notes that a snapshot of all that a room has handed over is being written.
  func noteSaving(_ room: String) {
    if let entry = rooms[room] { change(entry) { $0.isSaving = true } }
  }

  /// Notes that the snapshot is on disk, or could not be written.
  func noteSaved(_ room: String, isWritten: Bool) {
    guard let entry = rooms[room], entry.isSaving else { return }
    change(entry) { entry in
      if isWritten {
        (entry.behindPrevious, entry.behindNewest) = (entry.behindNewest, entry.behindNext)
      }
      (entry.isSaving, entry.behindNext) = (false, nil)
    }
    cut()
  }

  /// Notes that nothing of a room is needed any more, unless another one has its name by now.
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
  /// - Parameter copy: receives its lines, except for the mark.
  /// - Returns: the segment that contains it; `nil` if it was dropped.
  func append(
    _ batch: RecordedBatch, of number: UInt64, copy: EncodedLines?, now: UInt64
  ) -> Int? {
    completions += batch.completions
    guard let writer = writers[number], writer.status.failure == nil, !batch.entries.isEmpty
    else { return nil }
    var segment: Int?
    attempt(now) { () throws(RecordingError) in
      let segments = try open(now)
      segment = segments.number
      if let room = writer.room, let segment { change(room) { $0.note(segment) } }
      try segments.append(batch.entries, copy: copy, now: now)
    }
    return writer.status.failure == nil ? segment : nil
  }

  /// Drops all later batches of a writer, because a batch is lost.
  func fail(_ number: UInt64, _ error: RecordingError) {
    guard let writer = writers.removeValue(forKey: number) else { return }
    writer.status.fail(error)
    writer.onFailure()
  }

  /// Ends a group commit.
  ///
  /// - Parameter isAwaited: whether to sync even if no completion is waiting.
  func commit(isAwaited: Bool = false, now: UInt64) {
    let number = segments?.number
    attempt(now) { () throws(RecordingError) in
      try segments?.commit(isAwaited: isAwaited || !completions.isEmpty, now: now)
    }
    if let next = segments?.number, next != number { begun(next) }
    if let number = segments?.number, segments?.hasSyncedLines == true { newest.note(number) }
    for number in exchange(&ending, with: []) { writers[number] = nil }
    let waiting = completions
    completions = []
    for completion in waiting { completion() }
  }

  /// Whether everything that was appended is synced.
  var isSynced: Bool { segments?.isSynced ?? true }

  /// When ``commit(isAwaited:now:)`` is due even if nothing is appended; `nil` if it is not.
  var deadline: UInt64? { segments?.deadline }

  private func attempt(_ now: UInt64, _ body: () throws(RecordingError) -> Void) {
    do throws(RecordingError) {
      try body()
    } catch {
      let isNew = failure == nil
      let reason =
        "rooms are saved as snapshots only, because the write-ahead log cannot be written: \(error)"
      // Not again for each batch that comes meanwhile.
      if failure.map({ now >= $0.retryAt }) ?? true {
        failure = (error, retryAt: now + Self.pause)
        index.note(logFailure: reason)
      }
      if let failed = exchange(&segments, with: nil) {
        // The next segment continues this one only if its last line can be written.
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

  /// How long a log that could not be written is left alone, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000

  /// The segments to append to.
  private func open(_ now: UInt64) throws(RecordingError) -> SegmentSequence {
    if let segments { return segments }
    if let failure, now < failure.retryAt { throw failure.error }
    try Directories.create(directory, on: settings.disk)
    let number = max(numbers.last ?? 0, newest.number) + 1
    // What cannot be read may say when the log began.
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
    index.note(logFailure: nil)
    begun(number)
    return opened
  }

  // MARK: Cutting

  private func begun(_ number: Int) {
    numbers.append(number)
    let ahead = Self.segmentsAhead(of: rooms.count)
    for (name, room) in rooms {
      guard !room.isSaving, let first = room.first else { continue }
      // Not all rooms at once, and not the second snapshot, which lets the log be cut, directly
      // behind the first.
      if number - first >= ahead - room.order % (ahead / 2),
        room.behindNewest.map({ number - $0 >= ahead / 2 }) ?? true
      {
        room.onSnapshotDue?(name)
      }
    }
    cut()
  }

  /// How many segments the log may be ahead of a room's older snapshot before a new one is asked
  /// for; even.
  ///
  /// What snapshots write should not be more than what the log does: that of a busy room has 100 to
  /// 200 KB, and its share of the log until the next one is 128 KiB then.
  private static func segmentsAhead(of rooms: Int) -> Int {
    min(max(rooms / 256, 1), 16) * 2
  }

  /// Removes segments that neither a room nor a recording needs, oldest first, so that the
  /// remaining ones are contiguous.
  private func cut() {
    guard numbers.count > 1 else { return }
    let uncompleted =
      hasCompletedRecordings
      ? nil : contents?.recordings.values.lazy.map(\.segments.lowerBound).min()
    let needed = min(
      firstNeeded.keys.min() ?? .max, neededByRecordings() ?? .max, uncompleted ?? .max,
      unreadable ?? .max)
    while numbers.count > 1, let oldest = numbers.first, oldest < needed {
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
