import FileSystem
import Glibc
import LiveEvents
import Synchronization
import Wording

/// Makes the catalogue agree with the files, which are authoritative. They differ if the program
/// ended without closing its recordings, or if either was changed by another program.
///
/// The rows of segments are saved soon after they are read, so that the next start continues a
/// recovery that was interrupted.
struct Recovery {
  let directory: String
  let catalogue: Catalogue
  /// The recordings that are being written, by name.
  var writing: [String: RecordingSession] = [:]
  /// The log, from which unfinished recordings are completed.
  var log: LogContents?
  var progress = RecoveryProgress()
  let disk: any Disk
  /// Called with a message for each problem.
  var onProblem: @Sendable (String) -> Void = { _ in }

  /// Recovers all recordings.
  ///
  /// - Complexity: one `stat` per segment. Segments that were not closed, or that have changed
  ///   since the catalogue was written, are read.
  func run() throws(RecordingError) {
    var found: Set<String> = []
    /// Runs `body`. An unreadable recording is listed as damaged, and does not hide the others.
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
    var plans: [RecoveryPlan] = []
    for name in try Directories.names(in: directory, on: disk) {
      let path = directory + "/" + name
      guard (try? disk.state(of: path))?.kind == .directory else { continue }
      if let deleted = DeletedRecording.recording(in: name) {
        try finishDeletion(of: deleted, in: path)
        continue
      }
      try attempt(name) { () throws(RecordingError) in
        plans.append(
          RecoveryPlan(
            name: name, path: path, known: try catalogue.recording(name),
            knownSegments: try catalogue.segments(of: name), writing: writing[name]?.segment,
            files: try RecordingFiles.entries(in: path, on: disk)))
      }
    }
    progress.begin(bytes: plans.reduce(0) { $0 + $1.bytesToRead })
    for plan in plans {
      try attempt(plan.name) { () throws(RecordingError) in
        if try recover(plan) { found.insert(plan.name) }
      }
    }
    for row in try catalogue.recordings() where !found.contains(row.name) {
      onProblem(
        "recording '\(row.name)' is missing: its directory does not exist, or contains no segments")
      try catalogue.remove(row.name)
    }
  }

  /// Completes the deletion of a recording after a crash.
  private func finishDeletion(of name: String, in path: String) throws(RecordingError) {
    do throws(RecordingError) {
      while try DeletedRecording.removeNext(in: path, on: disk) {}
    } catch {
      onProblem("deleting recording '\(name)': \(error); the next start tries again")
    }
    // A new recording may have the same name.
    let new = directory + "/" + name
    if (try? disk.state(of: new)) == nil { try catalogue.remove(name) }
  }

  /// Enters a recording that cannot be examined into the catalogue.
  private func markUnreadable(_ name: String, _ error: RecordingError) throws(RecordingError) {
    var row =
      try catalogue.recording(name)
      ?? RecordingRow(
        name: name, room: RecordingName.room(name), state: RecordingState.damaged.rawValue,
        startedAt: RecordingName.startedAt(name))
    row.markDamaged(error.description)
    // Its segments are removed from the catalogue, so that the next start reads all of them.
    try catalogue.replace(row, [])
  }

  /// Recovers one recording. Returns `false` if its directory contains no segments.
  private func recover(_ plan: RecoveryPlan) throws(RecordingError) -> Bool {
    let session = writing[plan.name]
    var plan = plan
    // Only the last segment was being written when the program ended, and may end with a torn line.
    var taken = session == nil ? try removeLast(&plan) : nil
    if let found = taken?.found, let completed = try complete(found, of: plan) {
      taken?.found = completed
    }
    let last = taken?.found
    var segments: [SegmentRow] = []
    var scans: [SegmentScan] = []
    var damage: [Int: Damage] = [:]
    var unsaved: [SegmentRow] = []
    for segment in plan.segments {
      if let row = segment.row {
        segments.append(row)
        damage[segment.number] = segment.damage
        continue
      }
      guard let found = try examine(segment, of: plan) else { continue }
      scans.append(found.scan)
      segments.append(try found.row(of: plan.name, isTorn: false, on: disk))
      damage[segment.number] = found.damage
      unsaved.append(segments[segments.count - 1])
      // A transaction takes some milliseconds, as long as reading 100 small segments.
      guard session == nil,
        unsaved.count >= 100
          || unsaved.reduce(0, { $0 + $1.bytes }) >= SegmentReader.blockSize
      else { continue }
      try keep(unsaved, of: plan, scans)
      unsaved = []
    }
    if let session {
      try catalogue.replace(session.row, segments)
      return true
    }
    if let last {
      scans.append(last.scan)
      segments.append(try last.row(of: plan.name, isTorn: true, on: disk))
      damage[last.segment.number] = last.damage
    }
    for row in plan.missing(segments) {
      segments.append(row)
      damage[row.number] = Damage(segment: row.number, .missing)
    }
    segments.sort { $0.number < $1.number }
    guard !segments.isEmpty else {
      // Fails if the directory is not empty.
      try? disk.removeDirectory(plan.path)
      return false
    }
    let isKnown = plan.known.map { $0.state != RecordingState.recording.rawValue } ?? false
    guard !isKnown || !scans.isEmpty || plan.knownSegments != segments else { return true }
    let row = RecordingRow.recovered(plan.name, plan.known, segments, scans, damage)
    if plan.mayBeRenamed, let name = scans.first?.header?.name, name != plan.name {
      onProblem("recording '\(row.name)' was renamed: its segments name '\(name)'")
    }
    if row.state == RecordingState.damaged.rawValue, row.reason != plan.known?.reason {
      onProblem("recording '\(row.name)': \(row.reason ?? "damaged")")
    }
    let chain = last.flatMap { close($0, of: row) }
    if let last, let chain,
      let index = segments.firstIndex(where: { $0.number == last.segment.number })
    {
      segments[index] = try RecordingFiles.row(
        plan.name, last.segment.number, last.segment.file, last.scan.contents, chain: chain,
        previous: last.scan.header?.previous, on: disk)
    }
    // The empty segments are kept while the previous segment announces them, because readers would
    // report them as missing.
    if let taken, !taken.empty.isEmpty, chain != nil || !taken.found.isReopened {
      remove(taken.empty, of: plan)
    }
    try catalogue.replace(row, segments)
    return true
  }

  /// Whether the log has batches after the last log sequence that a segment states.
  private func isContinuedByLog(_ found: RecoveredSegment, of plan: RecoveryPlan) -> Bool {
    guard let mark = found.scan.mark else { return false }
    return log?.hasTail(of: found.scan.header?.name ?? plan.name, after: mark.sequence) ?? false
  }

  /// Completes the last segment if the log has more of its lines: cuts it after the last line that
  /// states a log sequence, and copies the later batches from the log.
  ///
  /// - Returns: the completed segment; `nil` if it is complete or cannot be written.
  private func complete(
    _ found: RecoveredSegment, of plan: RecoveryPlan
  ) throws(RecordingError) -> RecoveredSegment? {
    let scan = found.scan
    guard let log, let mark = scan.mark, let chain = scan.chain, scan.end == nil,
      scan.goodBytes >= found.syncedBytes, !found.isMisplaced
    else { return nil }
    let name = scan.header?.name ?? plan.name
    do throws(RecordingError) {
      var lines = 0
      let isWhole = try log.readTail(of: name, after: mark) { _ in lines += 1 }
      if !isWhole {
        onProblem("recording '\(plan.name)' lacks its end, which the log does not contain")
      }
      // The recording may have more lines than the log still has.
      guard lines > chain.number - mark.chain.number else { return nil }
      try SegmentClosing.append(name, of: log, to: found.segment.file, after: mark, on: disk)
    } catch {
      // The disk may be full or read-only.
      onProblem("\(error)")
      return nil
    }
    var segment = found.segment
    segment.bytes = try InputFile.state(of: segment.file, on: disk).bytes
    return try examine(segment, of: plan)?.completed(from: found)
  }

  /// Removes empty segments, and syncs the removal so that a crash does not restore them.
  private func remove(_ empty: [RecoveredSegment], of plan: RecoveryPlan) {
    do throws(RecordingError) {
      for found in empty {
        reportCut(found, of: plan.name)
        _ = try Directories.remove(found.segment.file, on: disk)
      }
      try Directories.sync(plan.path, on: disk)
    } catch {
      onProblem("\(error)")
    }
  }

  /// Removes the last segment from the plan and returns it, with the segments after it that contain
  /// nothing but their header. Returns `nil` if the catalogue knows the last segment.
  private func removeLast(
    _ plan: inout RecoveryPlan
  ) throws(RecordingError) -> (found: RecoveredSegment, empty: [RecoveredSegment])? {
    var empty: [RecoveredSegment] = []
    while let segment = plan.segments.last, segment.damage == nil,
      segment.row == nil || !empty.isEmpty
    {
      plan.segments.removeLast()
      guard var found = try examine(segment, of: plan) else { continue }
      if found.isEmpty, !plan.segments.isEmpty {
        empty.append(found)
        continue
      }
      if !empty.isEmpty { found.reopen() }
      // If the previous segment closed the recording, the recording was resumed in the empty
      // segment, to which the later batches in the log belong.
      if let next = empty.last, found.scan.end?.state != nil, isContinuedByLog(next, of: plan),
        LineChain.leads(found.scan.chain, to: next.scan.header?.previous)
      {
        plan.segments.append(segment)
        return (next, empty.dropLast())
      }
      return (found, empty)
    }
    // If all segments are empty, the first one is kept.
    guard let last = empty.popLast() else { return nil }
    return (last, empty)
  }

  /// Reads a segment. Returns `nil` if it is empty, or if the file was not written by this program.
  private func examine(
    _ segment: RecoveryPlan.Segment, of plan: RecoveryPlan
  ) throws(RecordingError) -> RecoveredSegment? {
    let scan = try SegmentReader.scan(path: segment.file, on: disk) { progress.subtract(read: $0) }
    if scan.isStrange, !plan.knownSegments.contains(where: { $0.number == segment.number }) {
      // A file of another program is not listed and not changed.
      guard scan.isUnwritten else { return nil }
      // The segment was created, but its header was not completely written. The header is synced
      // before anything else is written.
      if segment.bytes <= SegmentHeader.maximumBytes {
        try? disk.remove(segment.file)
        return nil
      }
    }
    return RecoveredSegment(segment, scan, of: plan)
  }

  /// Saves the segments that were read so far. The state of the recording is `recording` until all
  /// segments are read.
  private func keep(
    _ segments: [SegmentRow], of plan: RecoveryPlan, _ scans: [SegmentScan]
  ) throws(RecordingError) {
    let header = scans.first?.header
    let row = RecordingRow(
      name: plan.name, room: header?.room ?? RecordingName.room(plan.name),
      state: RecordingState.recording.rawValue,
      startedAt: header?.startedAt ?? RecordingName.startedAt(plan.name))
    try catalogue.save(segments, of: plan.known == nil ? row : nil)
  }

  /// Closes the last segment, see ``SegmentClosing``. The bytes that are cut off were never
  /// acknowledged.
  ///
  /// - Returns: the end of the chain; `nil` if the recording is damaged or cannot be written.
  private func close(_ last: RecoveredSegment, of row: RecordingRow) -> LineChain? {
    guard let chain = last.scan.chain, row.state != RecordingState.damaged.rawValue else {
      return nil
    }
    reportCut(last, of: row.name)
    var end = SegmentEnd(events: last.scan.contents.events, frames: last.scan.contents.frames)
    end.state = RecordingState(rawValue: row.state)
    end.reason = row.reason
    do throws(RecordingError) {
      return try SegmentClosing.close(
        last.segment.file, syncedBytes: last.scan.syncedBytes, at: last.scan.goodBytes, chain,
        with: last.scan.end == nil ? end : nil, on: disk)
    } catch {
      // The disk may be full or read-only. The recording can still be read.
      onProblem("\(error)")
      return nil
    }
  }

  private func reportCut(_ found: RecoveredSegment, of recording: String) {
    let cut = found.segment.bytes - found.scan.goodBytes
    guard cut > 0, !found.isReopened, let chain = found.scan.chain else { return }
    onProblem(
      "recording '\(recording)': cutting off \(Format.count(cut, "byte")) after line \(chain.number) in "
        + "segment \(found.segment.number), not synced when the program ended")
  }
}
