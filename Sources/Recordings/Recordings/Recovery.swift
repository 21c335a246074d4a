import Glibc
import LiveEvents
import Synchronization

/// How much is left to read until the catalogue agrees with the files. May be read from any thread.
final class RecoveryProgress: Sendable {
  private let left = Atomic<Int>(0)
  private let onRead: @Sendable (Int) -> Void

  /// - Parameter onRead: called on the writer's thread with the size of each part that was read.
  init(onRead: @escaping @Sendable (Int) -> Void = { _ in }) { self.onRead = onRead }

  var bytesLeft: Int { left.load(ordering: .relaxed) }

  fileprivate func begin(bytes: Int) { left.store(bytes, ordering: .relaxed) }

  fileprivate func note(read bytes: Int) {
    left.wrappingSubtract(min(bytes, bytesLeft), ordering: .relaxed)
    onRead(bytes)
  }
}

/// Makes the catalogue agree with the files after the program ended without closing its recordings,
/// or after either was changed from outside. The files are authoritative.
///
/// What is known of a segment is saved as soon as it is read: a recovery that is cut short is continued
/// by the next.
struct Recovery {
  let directory: String
  let catalogue: Catalogue
  /// The recordings that are being written, by name.
  var writing: [String: RecordingSession.Position] = [:]
  var progress = RecoveryProgress()

  /// What is to be done for one recording.
  private struct Plan {
    let name: String
    let path: String
    let known: RecordingRow?
    let knownSegments: [SegmentRow]
    var segments: [Segment] = []

    struct Segment {
      let number: Int
      let file: String
      let bytes: Int
      /// What the catalogue says about the file, if it is the one that was examined.
      let row: SegmentRow?
    }

    var bytesToRead: Int { segments.reduce(0) { $0 + ($1.row == nil ? $1.bytes : 0) } }
  }

  /// - Complexity: one `stat` per segment. Segments that were never closed, or that differ from
  ///   what the catalogue says about them, are read.
  func run() throws(RecordingError) {
    var found: Set<String> = []
    /// One unreadable recording must not hide the others.
    func attempt(_ name: String, _ body: () throws(RecordingError) -> Void) throws(RecordingError) {
      do throws(RecordingError) {
        try body()
      } catch {
        switch error {
        case .catalogue, .catalogueBusy: throw error
        default: try markUnreadable(name, error)
        }
        found.insert(name)
      }
    }
    var plans: [Plan] = []
    for name in try Directories.names(in: directory) {
      let path = directory + "/" + name
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
      try attempt(name) { () throws(RecordingError) in plans.append(try plan(name, in: path)) }
    }
    progress.begin(bytes: plans.reduce(0) { $0 + $1.bytesToRead })
    for plan in plans {
      try attempt(plan.name) { () throws(RecordingError) in
        if try recover(plan) { found.insert(plan.name) }
      }
    }
    for row in try catalogue.recordings() where !found.contains(row.name) {
      try catalogue.remove(row.name)
    }
  }

  private func plan(_ name: String, in path: String) throws(RecordingError) -> Plan {
    var plan = Plan(
      name: name, path: path, known: try catalogue.recording(name),
      knownSegments: try catalogue.segments(of: name))
    let numbers = try Directories.names(in: path).compactMap(RecordingFiles.number).sorted()
    // How a recording ended is in its last segment.
    let isEndKnown = plan.known.map { $0.state != RecordingState.recording.rawValue } ?? false
    for number in numbers where number != writing[name]?.segment {
      let file = RecordingFiles.path(of: number, in: path)
      let state = try InputFile.state(of: file)
      let row = plan.knownSegments.first {
        $0.number == number && $0.bytes == state.bytes && $0.modified == state.modified
          && (isEndKnown || number != numbers.last)
      }
      plan.segments.append(
        Plan.Segment(number: number, file: file, bytes: state.bytes, row: row))
    }
    return plan
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
  private func recover(_ plan: Plan) throws(RecordingError) -> Bool {
    let position = writing[plan.name]
    var segments: [SegmentRow] = []
    var scans: [SegmentScan] = []
    for segment in plan.segments {
      if let row = segment.row {
        segments.append(row)
        continue
      }
      let scan = try SegmentReader.scan(path: segment.file) { progress.note(read: $0) }
      guard scan.goodBytes > 0 else {
        // A segment that was created, but not even its first line was written. A file that is not
        // ours is left alone and not listed.
        if segment.bytes == 0 || !scan.isDamaged { unlink(segment.file) }
        continue
      }
      try cutTail(of: segment.file, scan, size: segment.bytes)
      scans.append(scan)
      let isMisplaced = scan.header.map { $0.segment != segment.number } ?? false
      let row = try RecordingFiles.row(
        plan.name, segment.number, segment.file, scan.contents, crc32: scan.end?.crc32,
        isDamaged: scan.isDamaged || isMisplaced)
      segments.append(row)
      if position == nil { try keep(row, of: plan, scans) }
    }
    if let position {
      try catalogue.replace(position.row, segments)
      return true
    }
    guard !segments.isEmpty else {
      // Removes the directory if it is empty; otherwise `rmdir` fails and leaves it alone.
      rmdir(plan.path)
      return false
    }
    let isKnown = plan.known.map { $0.state != RecordingState.recording.rawValue } ?? false
    guard !isKnown || !scans.isEmpty || plan.knownSegments != segments else { return true }
    try catalogue.replace(row(plan.name, plan.known, segments, scans), segments)
    return true
  }

  /// Saves what was read of a recording so far, which counts as being recorded until all is read.
  private func keep(
    _ segment: SegmentRow, of plan: Plan, _ scans: [SegmentScan]
  ) throws(RecordingError) {
    if plan.known == nil, scans.count == 1 {
      let header = scans[0].header
      try catalogue.save(
        RecordingRow(
          name: plan.name, room: header?.room ?? Self.room(of: plan.name),
          state: RecordingState.recording.rawValue, startedAt: header?.startedAt ?? 0))
    }
    try catalogue.save(segment)
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
