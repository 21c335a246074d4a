import FileSystem
import LiveEvents

/// The segments of a directory, of which the last one is being written. Belongs to the writer's
/// thread.
final class SegmentSequence {
  private let directory: String
  private let settings: RecordingSettings
  /// How long written bytes may stay unsynced while nobody waits for them, in nanoseconds.
  private let syncNanoseconds: UInt64
  /// What the headers of all segments have in common.
  private let header: SegmentHeader
  /// Called with each segment that got its last line, and its size.
  private let onFinish: (SegmentWriter, _ bytes: Int) -> Void
  /// `nil` once the last segment is closed.
  private var segment: SegmentWriter?
  private var closed: (contents: SegmentContents, bytes: Int)
  /// Monotonic time of the oldest unsynced byte; `nil` if there is none.
  private var unsyncedSince: UInt64?
  /// How many segments there are.
  private(set) var count: Int

  /// Creates the next segment in a directory, which must exist.
  ///
  /// - Parameters:
  ///   - header: of the segment; those that follow differ in what depends on their number.
  ///   - earlier: the contents, the size and the number of all segments before, and the end of the
  ///     last one if
  ///     its lines are chained.
  init(
    _ header: SegmentHeader,
    after earlier: (contents: SegmentContents, bytes: Int, count: Int, chain: LineChain?),
    directory: String, settings: RecordingSettings, syncNanoseconds: UInt64, now: UInt64,
    onFinish: @escaping (SegmentWriter, _ bytes: Int) -> Void
  ) throws(RecordingError) {
    self.syncNanoseconds = syncNanoseconds
    self.header = header
    self.directory = directory
    self.settings = settings
    self.onFinish = onFinish
    closed = (earlier.contents, earlier.bytes)
    count = earlier.count + 1
    segment = try make(header.segment, after: earlier.chain, header.sequence, now)
  }

  /// The number of the segment that is being written; `nil` if there is none.
  var number: Int? { segment?.number }

  /// Whether lines of the segment that is being written are on disk for good.
  var hasSyncedLines: Bool { segment?.hasSyncedLines ?? false }

  /// What all segments hold.
  var contents: SegmentContents {
    var whole = closed.contents
    if let segment { whole.append(segment.contents) }
    return whole
  }

  /// The size of all segments, with what is gathered.
  var bytes: Int { closed.bytes + (segment?.bytes ?? 0) }

  /// - Parameter chain: the end of the segment before, if there is one and its lines are chained.
  private func make(
    _ number: Int, after chain: LineChain?, _ sequence: Int?, _ now: UInt64
  ) throws(RecordingError) -> SegmentWriter {
    var header = header
    (header.segment, header.previous, header.sequence) = (number, chain?.text, sequence)
    let path = RecordingFiles.path(of: number, in: directory)
    let writer = try SegmentWriter(
      header: header, after: chain ?? LineChain(), path: path, now: now, disk: settings.disk)
    do throws(RecordingError) {
      try Directories.sync(directory, on: settings.disk)
    } catch {
      // It would not belong to what is written from here on.
      try? settings.disk.remove(path)
      throw error
    }
    return writer
  }

  // MARK: Writing

  /// - Parameter copy: receives the lines, except for marks.
  func append(
    _ entries: [RecordedBatch.Entry], copy: EncodedLines?, now: UInt64
  ) throws(RecordingError) {
    guard let segment else { return }
    if unsyncedSince == nil { unsyncedSince = now }
    for entry in entries { try segment.append(entry, copy: copy) }
  }

  /// Appends lines from the log.
  ///
  /// - Parameter sequence: the log sequence of the last batch.
  func append(_ lines: EncodedLines, upTo sequence: Int, now: UInt64) throws(RecordingError) {
    guard let segment else { return }
    if unsyncedSince == nil { unsyncedSince = now }
    try segment.append(lines)
    segment.sequence = sequence
  }

  /// Ends a group commit: writes what has been gathered, and syncs it if somebody waits for that or
  /// the time has come. Returns whether everything is synced.
  @discardableResult
  func commit(isAwaited: Bool, now: UInt64) throws(RecordingError) -> Bool {
    if isAwaited || deadline.map({ now >= $0 }) ?? false {
      try segment?.sync()
      unsyncedSince = nil
    } else {
      try segment?.write()
    }
    try rotate(now)
    return isSynced
  }

  /// Whether everything that was appended is synced.
  var isSynced: Bool { unsyncedSince == nil }

  /// When ``commit(isAwaited:now:)`` is due even if nothing is appended; `nil` if it is not.
  var deadline: UInt64? { unsyncedSince.map { $0 + syncNanoseconds } }

  private func rotate(_ now: UInt64) throws(RecordingError) {
    guard let segment,
      segment.bytes >= settings.segmentBytes
        || now >= segment.createdAt + settings.segmentNanoseconds
    else { return }
    // The next one names the last line of this one, which is written only once there is a next one:
    // otherwise its last line says why there is none.
    try segment.seal { _ in }
    let next = try make(segment.number + 1, after: segment.chain, segment.sequence, now)
    do throws(RecordingError) {
      try finish()
    } catch {
      // The last line may be there, and says that there is a next one.
      try segment.cutUnsynced()
      try? settings.disk.remove(RecordingFiles.path(of: next.number, in: directory))
      throw error
    }
    self.segment = next
    unsyncedSince = nil
    count += 1
  }

  // MARK: The end

  /// Closes the last segment with a line that `complete` may add members to.
  func close(_ complete: (inout SegmentEnd) -> Void) throws(RecordingError) {
    try segment?.seal(complete)
    try finish()
  }

  private func finish() throws(RecordingError) {
    guard let segment else { return }
    let bytes = try segment.finish()
    self.segment = nil
    closed.contents.append(segment.contents)
    closed.bytes += bytes
    onFinish(segment, bytes)
  }

  /// Closes the last segment with a line that gives the reason for the failure.
  ///
  /// - Parameter cutsUnsynced: whether unsynced bytes are cut off first, so that the file ends with
  ///   a complete line.
  func fail(_ error: RecordingError, cutsUnsynced: Bool = true) {
    unsyncedSince = nil
    do throws(RecordingError) {
      // On a full disk, cutting frees the space for the last line.
      if cutsUnsynced { try segment?.cutUnsynced() }
      try close { end in
        end.state = .failed
        end.reason = error.description
      }
    } catch  where !cutsUnsynced {
      fail(error, cutsUnsynced: true)
    } catch {
      // The segment is left as it is; the next start examines it.
      if let synced = segment?.synced {
        closed.contents.append(synced.contents)
        closed.bytes += synced.bytes
      }
      segment = nil
    }
  }
}
