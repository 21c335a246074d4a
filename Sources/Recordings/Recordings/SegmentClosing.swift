import FileSystem

/// Ends segments that were being written when the program ended.
enum SegmentClosing {
  /// Cuts off everything behind the last good line of a segment, adds its last line, and syncs all of it, since what
  /// comes next relies on it: a program that was killed leaves lines and entries that may still get lost.
  ///
  /// - Parameters:
  ///   - chain: up to the last good line.
  ///   - end: the last line; `nil` if it is there.
  /// - Returns: the end of the chain.
  static func close(
    _ path: String, at goodBytes: Int, _ chain: LineChain, with end: SegmentEnd?, on disk: any Disk
  ) throws(RecordingError) -> LineChain {
    var file = try OutputFile(cutting: path, to: goodBytes, on: disk)
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
}
