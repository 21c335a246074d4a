import FileSystem
import LiveEvents

/// The segments of a directory, the last of which is being written. Belongs to the writer's thread.
final class SegmentSequence {
  private let directory: String
  private let settings: RecordingSettings
  /// How long bytes may stay unsynced if nothing is waiting for them, in nanoseconds.
  private let syncNanoseconds: UInt64
  /// The members that are equal in the headers of all segments.
  private let header: SegmentHeader
  /// Called with each closed segment and its size.
  private let onFinish: (SegmentWriter, _ bytes: Int) -> Void
  /// `nil` once the last segment is closed.
  private var segment: SegmentWriter?
  private var closed: (contents: SegmentContents, bytes: Int)
  /// The monotonic time of the oldest unsynced byte; `nil` if there is none.
  private var unsyncedSince: UInt64?
  /// The number of segments.
  private(set) var count: Int

  /// Creates the next segment. The directory must exist.
  ///
  /// - Parameters:
  ///   - header: the header of the segment. Later headers differ only in what depends on their
  ///     number.
  ///   - earlier: the contents, the size and the number of all previous segments, and the end of
  ///     the last one if its lines are chained.
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

  /// The number of the segment being written; `nil` if there is none.
  var number: Int? { segment?.number }

  /// Whether the segment being written has synced lines after its header.
  var hasSyncedLines: Bool { segment?.hasSyncedLines ?? false }

  /// The contents of all segments.
  var contents: SegmentContents {
    var whole = closed.contents
    if let segment { whole.append(segment.contents) }
    return whole
  }

  /// The size of all segments in bytes, including gathered lines.
  var bytes: Int { closed.bytes + (segment?.bytes ?? 0) }

  /// - Parameter chain: the end of the previous segment, if it exists and is chained.
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
      // After this failure, the next segment gets the same number and must not find this file.
      try? settings.disk.remove(path)
      throw error
    }
    return writer
  }

  // MARK: Writing

  /// Appends the lines of a batch.
  ///
  /// - Parameter copy: the segments of a recording that gather the same lines, except for marks.
  ///   These segments write the lines in their next ``commit(isAwaited:now:)``.
  func append(
    _ batch: RecordedBatch, copy: SegmentSequence?, now: UInt64
  ) throws(RecordingError) {
    guard let segment else { return }
    if unsyncedSince == nil { unsyncedSince = now }
    for entry in batch.entries { try segment.append(entry, copy: copy?.segment) }
    guard let segment = copy?.segment else { return }
    if let sequence = batch.sequence {
      precondition(sequence > segment.sequence ?? 0, "each batch is copied once, in order")
      segment.sequence = sequence
    }
  }

  /// The number of bytes that are not written yet.
  var gatheredBytes: Int { segment?.gatheredBytes ?? 0 }

  /// Ends a group commit: writes all gathered lines, and syncs them if `isAwaited` is set or the
  /// deadline has passed. Returns whether everything is synced.
  @discardableResult
  func commit(isAwaited: Bool, now: UInt64) throws(RecordingError) -> Bool {
    // Gathered copies of the log's lines count as unsynced once they are written.
    if unsyncedSince == nil, gatheredBytes > 0 { unsyncedSince = now }
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

  /// When ``commit(isAwaited:now:)`` must be called at the latest; `nil` if everything is synced.
  var deadline: UInt64? { unsyncedSince.map { $0 + syncNanoseconds } }

  private func rotate(_ now: UInt64) throws(RecordingError) {
    guard let segment,
      segment.bytes >= settings.segmentBytes
        || now >= segment.createdAt + settings.segmentNanoseconds
    else { return }
    // The last line of this segment states whether another follows. It is therefore written after
    // the next segment was created, whose header already names its checksum.
    try segment.seal { _ in }
    let next = try make(segment.number + 1, after: segment.chain, segment.sequence, now)
    do throws(RecordingError) {
      try finish()
    } catch {
      // The last line may have been written, and announces the next segment.
      try segment.cutUnsynced()
      try? settings.disk.remove(RecordingFiles.path(of: next.number, in: directory))
      throw error
    }
    self.segment = next
    unsyncedSince = nil
    count += 1
  }

  // MARK: The end

  /// Closes the last segment. `complete` may add members to its last line.
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
  ///   a complete line. Otherwise only gathered lines are dropped.
  func fail(_ error: RecordingError, cutsUnsynced: Bool = true) {
    unsyncedSince = nil
    if !cutsUnsynced { segment?.dropGathered() }
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
      // The segment is left as it is. The next start examines it.
      if let synced = segment?.synced {
        closed.contents.append(synced.contents)
        closed.bytes += synced.bytes
      }
      segment = nil
    }
  }
}
