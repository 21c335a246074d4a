import FileSystem
import SystemSupport

/// Ends segments that were being written when the program ended.
enum SegmentClosing {
  /// Cuts off everything behind the last good line of a segment, adds its last line, and syncs all
  /// of it, since what comes next relies on it: a program that was killed leaves lines and entries
  /// that may still get lost.
  ///
  /// - Parameters:
  ///   - syncedBytes: how much of it its last mark says to be synced.
  ///   - chain: up to the last good line.
  ///   - end: the last line; `nil` if it is there.
  /// - Returns: the end of the chain.
  static func close(
    _ path: String, syncedBytes: Int, at goodBytes: Int, _ chain: LineChain, with end: SegmentEnd?,
    on disk: any Disk
  ) throws(RecordingError) -> LineChain {
    var file = try OutputFile(cutting: path, to: goodBytes, on: disk)
    try RecordingError.naming(path) { () throws(SystemError) in
      try rewrite(path, min(syncedBytes, goodBytes)..<goodBytes, on: disk)
    }
    // Before anything is written: otherwise what is cut off may come back behind the last line.
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

  /// Cuts a segment to one of its marks, and appends other lines.
  ///
  /// - Parameter body: receives a function that appends lines.
  static func append(
    to path: String, behind mark: SequenceMark, on disk: any Disk,
    _ body: ((EncodedLines) throws(RecordingError) -> Void) throws(RecordingError) -> Void
  ) throws(RecordingError) {
    var file = try OutputFile(cutting: path, to: mark.bytes, on: disk)
    // Without this, a crash could restore some of the removed bytes.
    try file.sync()
    var chain = mark.chain
    try body { lines throws(RecordingError) in
      var bytes: [UInt8] = []
      var start = 0
      for end in lines.ends {
        let first = bytes.count
        bytes.append(contentsOf: lines.bytes[start..<end])
        chain.close(&bytes, from: first)
        start = end
      }
      try file.write(bytes)
    }
  }

  /// How much is rewritten at a time.
  private static let blockSize = 1 << 20

  /// Writes bytes over themselves, so that the next sync writes them in any case: after a sync that
  /// failed in the run before, Linux may have them in memory only and takes them for written
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
