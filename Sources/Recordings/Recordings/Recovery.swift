import Glibc
import LiveEvents

/// Makes the catalogue agree with the files after the program ended without closing its recordings,
/// or after either was changed from outside. The files are authoritative.
struct Recovery {
  let directory: String
  let catalogue: Catalogue
  /// The recordings that are being written, by name.
  var writing: [String: RecordingSession.Position] = [:]

  /// - Complexity: one `stat` per segment. Segments that were never closed, or that differ from
  ///   what the catalogue says about them, are read.
  func run() throws(RecordingError) {
    var found: Set<String> = []
    for name in try Directories.names(in: directory) {
      let path = directory + "/" + name
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
      do throws(RecordingError) {
        if try recover(name, in: path) { found.insert(name) }
      } catch .catalogue(let problem) {
        throw .catalogue(problem)
      } catch {
        // One unreadable recording must not hide the others.
        try markUnreadable(name, error)
        found.insert(name)
      }
    }
    for row in try catalogue.recordings() where !found.contains(row.name) {
      try catalogue.remove(row.name)
    }
  }

  /// Notes in the catalogue that a recording cannot be examined.
  private func markUnreadable(_ name: String, _ error: RecordingError) throws(RecordingError) {
    var row =
      try catalogue.recording(name)
      ?? RecordingRow(
        name: name, room: Self.room(of: name), state: RecordingState.damaged.rawValue,
        startedAt: 0)
    row.markDamaged(error.description)
    try catalogue.save(row)
  }

  /// Recovers one recording; `false` if the directory contains none.
  private func recover(_ name: String, in path: String) throws(RecordingError) -> Bool {
    let known = try catalogue.recording(name)
    let knownSegments = try catalogue.segments(of: name)
    var segments: [SegmentRow] = []
    var scans: [SegmentScan] = []
    let position = writing[name]
    for number in try Directories.names(in: path).compactMap(RecordingFiles.number).sorted()
    where number != position?.segment {
      let file = RecordingFiles.path(of: number, in: path)
      let state = try InputFile.state(of: file)
      if let row = knownSegments.first(where: { $0.number == number }), row.crc32 != nil,
        row.bytes == state.bytes, row.modified == state.modified
      {
        segments.append(row)
        continue
      }
      let scan = try SegmentReader.scan(path: file)
      guard scan.goodBytes > 0 else {
        // A segment that was created, but not even its first line was written. A file that is not
        // ours is left alone and not listed.
        if state.bytes == 0 || !scan.isDamaged { unlink(file) }
        continue
      }
      try cutTail(of: file, scan, size: state.bytes)
      scans.append(scan)
      let isMisplaced = scan.header.map { $0.segment != number } ?? false
      segments.append(
        try RecordingFiles.row(
          name, number, file, scan.contents, crc32: scan.end?.crc32,
          isDamaged: scan.isDamaged || isMisplaced))
    }
    if let position {
      try catalogue.replace(position.row, segments)
      return true
    }
    guard !segments.isEmpty else {
      // Removes the directory if it is empty; otherwise `rmdir` fails and leaves it alone.
      rmdir(path)
      return false
    }
    let isKnown = known.map { $0.state != RecordingState.recording.rawValue } ?? false
    guard !isKnown || !scans.isEmpty || knownSegments != segments else { return true }
    try catalogue.replace(row(name, known, segments, scans), segments)
    return true
  }

  /// Cuts off everything after the last good line, none of which was ever acknowledged.
  private func cutTail(of file: String, _ scan: SegmentScan, size: Int) throws(RecordingError) {
    guard scan.end == nil, scan.goodBytes < size else { return }
    guard truncate(file, off_t(scan.goodBytes)) == 0 || errno == EROFS else {
      throw .file(operation: "truncate", path: file, code: errno)
    }
  }

  private func row(
    _ name: String, _ known: RecordingRow?, _ segments: [SegmentRow], _ scans: [SegmentScan]
  ) throws(RecordingError) -> RecordingRow {
    let header = scans.lazy.compactMap(\.header).first
    var row =
      known
      ?? RecordingRow(
        name: name, room: header?.room ?? Self.room(of: name),
        state: RecordingState.recording.rawValue, startedAt: header?.startedAt ?? 0)
    if let end = scans.last?.end, let state = end.state {
      row.state = state.rawValue
      row.reason = end.reason
      row.endedAt = end.endedAt
      row.digest = end.digest
    }
    if row.state == RecordingState.recording.rawValue {
      row.state = RecordingState.interrupted.rawValue
    }
    let missing = segments.enumerated().first { $0.offset + 1 != $0.element.number }
      .map { $0.offset + 1 }
    if let damaged = segments.first(where: \.isDamaged)?.number {
      row.markDamaged(segment: damaged)
    } else if let missing {
      row.markDamaged("segment \(missing) is missing")
    }
    return row
  }

  /// The room with which the name of a recording begins.
  private static func room(of name: String) -> String {
    name.lastIndex(of: "-").map { String(name[..<$0]) } ?? name
  }
}
