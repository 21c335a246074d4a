import FileSystem
import SystemSupport

/// Closes segments that were being written when the program ended.
enum SegmentClosing {
  /// Cuts a segment after its last good line, adds the last line, and syncs the whole segment.
  ///
  /// The segment may have unsynced lines if the program was killed. It is synced because later
  /// segments rely on it.
  ///
  /// - Parameters:
  ///   - syncedBytes: how many bytes its last `segmentSynced` line states to be synced.
  ///   - chain: the chain up to the last good line.
  ///   - end: the line to add; `nil` if the segment has a last line.
  /// - Returns: the end of the chain.
  static func close(
    _ path: String, syncedBytes: Int, at goodBytes: Int, _ chain: LineChain, with end: SegmentEnd?,
    on disk: any Disk
  ) throws(RecordingError) -> LineChain {
    var file = try OutputFile(cutting: path, to: goodBytes, on: disk)
    try RecordingError.naming(path) { () throws(SystemError) in
      try rewrite(path, min(syncedBytes, goodBytes)..<goodBytes, on: disk)
    }
    // The cut is synced before the line is written. Otherwise a crash could restore removed bytes
    // after the line.
    try file.sync()
    try Directories.sync(Directories.parent(of: path), on: disk)
    guard let end else { return chain }
    var chain = chain
    var line: [UInt8] = []
    SegmentLines.append(end, type: SegmentEnd.type, to: &line)
    chain.close(&line, from: 0)
    do throws(RecordingError) {
      try file.write(line)
      try file.sync()
    } catch {
      try file.truncate(to: goodBytes)
      throw error
    }
    return chain
  }

  /// Cuts a segment of a recording after a `segmentSynced` line, and appends the later lines of the
  /// recording from the log.
  static func append(
    _ recording: String, of log: LogContents, to path: String, after mark: SequenceMark,
    on disk: any Disk
  ) throws(RecordingError) {
    var file = try OutputFile(cutting: path, to: mark.bytes, on: disk)
    // Without this sync, a crash could restore some of the removed bytes.
    try file.sync()
    var (chain, bytes): (LineChain, [UInt8]) = (mark.chain, [])
    _ = try log.readTail(of: recording, after: mark) { line in
      let start = bytes.count
      bytes.append(contentsOf: line)
      chain.close(&bytes, from: start)
    } onBlock: { () throws(RecordingError) in
      try file.write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
  }

  /// The number of bytes that are rewritten at a time.
  private static let blockSize = 1 << 20

  /// Overwrites bytes with themselves, so that the next sync writes them.
  ///
  /// After a failed sync, Linux may keep the bytes in memory and mark them as written
  /// (https://lwn.net/Articles/752063/).
  private static func rewrite(
    _ path: String, _ range: Range<Int>, on disk: any Disk
  ) throws(SystemError) {
    guard !range.isEmpty else { return }
    let file = try disk.open(path, for: .changing)
    defer { disk.close(file) }
    let block = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(blockSize, range.count), alignment: 1)
    defer { block.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let size = min(block.count, range.upperBound - offset)
      try disk.seek(file, to: offset)
      let count = try disk.read(file, into: UnsafeMutableRawBufferPointer(rebasing: block[..<size]))
      guard count > 0 else { return }
      try disk.seek(file, to: offset)
      offset += try disk.write(file, UnsafeRawBufferPointer(rebasing: block[..<count]))
    }
  }
}
