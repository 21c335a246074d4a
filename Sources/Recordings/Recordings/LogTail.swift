import FileSystem

extension LogContents {
  /// Whether the log has batches of a recording after a log sequence.
  func hasTail(of recording: String, after sequence: Int) -> Bool {
    recordings[recording].map { $0.last > sequence } ?? false
  }

  /// Reads the batches of a recording after a `segmentSynced` line. A recording that was being
  /// written when the program ended may lack these batches.
  ///
  /// - Parameters:
  ///   - onLine: called with each line of these batches, without the members that chain it.
  ///   - onBlock: called after the lines of each block.
  /// - Returns: `false` if a batch is missing in between. `onLine` gets only the lines before the
  ///   gap.
  /// - Throws: what `onBlock` throws, and ``RecordingError`` if the log cannot be read.
  func readTail(
    of recording: String, after mark: SequenceMark,
    onLine: @escaping (UnsafeBufferPointer<UInt8>) -> Void,
    onBlock: () throws(RecordingError) -> Void = {}
  ) throws(RecordingError) -> Bool {
    guard let found = recordings[recording] else { return true }
    // Before the first recorded batch, the log may lack batches that were not recorded: a snapshot
    // has replaced them.
    let isExact = mark.contents != SegmentContents()
    var tail = Tail(
      recording: recording, room: found.room, newest: mark.sequence, isExact: isExact)
    for index in segments.indices
    where numbers[index] <= found.segments.upperBound && newestBatches[index] > mark.sequence {
      let segment = segments[index].segments[0]
      let reader = try SegmentReader(
        path: segment.path, on: segments[index].disk, limit: segment.bytes, decodes: false)
      reader.onLine = { kind, line in if tail.includes(kind) { onLine(line) } }
      try reader.readAll { _ throws(RecordingError) in try onBlock() }
      // The segment has lost lines, which may be the end of the recording's last batch.
      if tail.isBroken || segment.isShortened && tail.isOurs { return false }
    }
    return true
  }

  /// Selects the batches of one recording from the log.
  private struct Tail {
    let recording: String
    let room: String
    /// The newest batch of the room, whether or not it belongs to the recording.
    var newest: Int
    /// Whether a later batch of the room that does not directly follow ``newest`` reveals a gap.
    var isExact: Bool
    /// Whether the recording has a batch after a gap.
    var isBroken = false
    /// Whether a batch of the room is missing.
    var hasGap = false
    /// Whether the newest batch belongs to the recording.
    var isOurs = false

    /// Returns whether the next line belongs to the recording.
    mutating func includes(_ kind: SegmentLines.Kind) -> Bool {
      switch kind {
      case .change(let text, _):
        guard let mark = LogMark(text: text) else { return isOurs }
        advance(to: mark)
        return false
      case .event, .frame: return isOurs
      case .header, .end, .synced, .unknown: return false
      }
    }

    private mutating func advance(to mark: LogMark) {
      isOurs = false
      guard mark.room == room, mark.sequence > newest else { return }
      if isExact, mark.after > newest { hasGap = true }
      newest = mark.sequence
      guard mark.recording == recording else { return }
      isExact = true
      (isOurs, isBroken) = (!hasGap, hasGap)
    }
  }
}
