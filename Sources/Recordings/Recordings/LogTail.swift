import FileSystem
import WireFormats

extension LogContents {
  /// Whether the log has batches of a recording after the one with a log sequence.
  func hasTail(of recording: String, behind sequence: Int) -> Bool {
    recordings[recording].map { $0.last > sequence } ?? false
  }

  /// Reads the batches of a recording after a mark, block by block. A recording that was being
  /// written when the program ended may lack them.
  ///
  /// - Returns: `false` if a batch is missing in between. `body` gets only what precedes the gap.
  /// - Throws: what `body` throws, and ``RecordingError`` if the log cannot be read.
  func readTail(
    of recording: String, behind mark: SequenceMark,
    _ body: (EncodedLines) throws(RecordingError) -> Void
  ) throws(RecordingError) -> Bool {
    guard let found = recordings[recording] else { return true }
    // Unrecorded batches may be missing before the first recorded one, since a snapshot replaces
    // them.
    let isExact = mark.contents != SegmentContents()
    var tail = Tail(
      recording: recording, room: found.room, newest: mark.sequence, isExact: isExact)
    let lines = EncodedLines()
    for index in segments.indices
    where numbers[index] <= found.segments.upperBound && newestBatches[index] > mark.sequence {
      let segment = segments[index].segments[0]
      let reader = try SegmentReader(
        path: segment.path, on: segments[index].disk, limit: segment.bytes, decodes: false)
      reader.onLine = { kind, line in tail.take(kind, line, into: lines) }
      var decoder = LineDecoder(ofOwnLinesUpTo: SegmentReader.longestLine)
      var steps: [RecordedStep] = []
      while try reader.read(&decoder, into: &steps) {
        steps.removeAll(keepingCapacity: true)
        try body(lines)
        lines.removeAll()
      }
      // The rest of the last batch may be what is missing from a segment.
      // The end of the last batch may be what the segment has lost.
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
    /// Whether the newest batch belongs to the recording.
    var isExact: Bool
    /// Whether a batch of the recording follows a gap.
    var isBroken = false
    var hasGap = false
    /// Whether the newest batch is to be copied.
    var isOurs = false

    mutating func take(
      _ kind: SegmentLines.Kind, _ line: UnsafeBufferPointer<UInt8>, into lines: EncodedLines
    ) {
      switch kind {
      case .change(let text, let instant):
        if let mark = LogMark(text: text) {
          take(mark)
        } else if isOurs {
          lines.append(line, at: instant)
        }
      case .event(let instant): if isOurs { lines.append(line, at: instant, events: 1) }
      case .frame(let instant, _): if isOurs { lines.append(line, at: instant, frames: 1) }
      case .header, .end, .synced, .unknown: break
      }
    }

    private mutating func take(_ mark: LogMark) {
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
