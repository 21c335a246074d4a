import FileSystem
import Glibc
import LiveEvents
import Synchronization
import Wording

/// How much is left to read until the catalogue agrees with the files, or of the log. May be read
/// from any thread.
final class RecoveryProgress: Sendable {
  private let left = Atomic<Int>(0)
  private let onRead: @Sendable (Int) -> Void

  /// - Parameter onRead: called on the writer's thread with the size of each part that was read.
  init(onRead: @escaping @Sendable (Int) -> Void = { _ in }) { self.onRead = onRead }

  var bytesLeft: Int { left.load(ordering: .relaxed) }

  func begin(bytes: Int) { left.store(bytes, ordering: .relaxed) }

  func note(read bytes: Int) {
    left.wrappingSubtract(min(bytes, bytesLeft), ordering: .relaxed)
    onRead(bytes)
  }
}

/// Makes the catalogue agree with the files after the program ended without closing its recordings,
/// or after either was changed from outside. The files are authoritative.
///
/// What is known of segments is saved soon after they are read: a recovery that is cut short is
/// continued by the next.
struct Recovery {
  let directory: String
  let catalogue: Catalogue
  /// The recordings that are being written, by name.
  var writing: [String: RecordingSession.Position] = [:]
  /// The log, from which unfinished recordings are completed.
  var log: LogContents?
  var progress = RecoveryProgress()
  let disk: any Disk
  /// Called with a message for each thing that is cut off.
  var onProblem: @Sendable (String) -> Void = { _ in }

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
      var bytes: Int
      /// What the catalogue says about the file, if it is the one that was examined.
      var row: SegmentRow?
      /// Why it is not a file; ``row`` says that nothing is in it.
      var damage: Damage?
    }

    var bytesToRead: Int { segments.reduce(0) { $0 + ($1.row == nil ? $1.bytes : 0) } }

    /// Whether its headers may name another recording: it was renamed, and this recovery is the
    /// first to see it, or the first one was cut short.
    var mayBeRenamed: Bool {
      known == nil
        || (known?.state == RecordingState.recording.rawValue && !knownSegments.isEmpty)
    }

    /// The rows of segments whose files are gone.
    func missing(_ segments: [SegmentRow]) -> [SegmentRow] {
      known(besides: segments.map(\.number)).filter { !$0.isNothing }.map(\.missing)
    }

    /// Whether something is gone that was not a file.
    var isRidOfSomething: Bool {
      known(besides: segments.map(\.number)).contains(where: \.isNothing)
    }

    private func known(besides numbers: [Int]) -> [SegmentRow] {
      let numbers = Set(numbers)
      return knownSegments.filter { !numbers.contains($0.number) }
    }
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
    for name in try Directories.names(in: directory, on: disk) {
      let path = directory + "/" + name
      guard (try? disk.state(of: path))?.kind == .directory else { continue }
      if let deleted = DeletedRecording.recording(in: name) {
        try finishDeletion(of: deleted, in: path)
        continue
      }
      try attempt(name) { () throws(RecordingError) in plans.append(try plan(name, in: path)) }
    }
    progress.begin(bytes: plans.reduce(0) { $0 + $1.bytesToRead })
    for plan in plans {
      try attempt(plan.name) { () throws(RecordingError) in
        if try recover(plan) { found.insert(plan.name) }
      }
    }
    for row in try catalogue.recordings() where !found.contains(row.name) {
      onProblem("recording '\(row.name)' is lost: its directory is missing")
      try catalogue.remove(row.name)
    }
  }

  /// Removes what a crash left of a deleted recording.
  private func finishDeletion(of name: String, in path: String) throws(RecordingError) {
    do throws(RecordingError) {
      while try DeletedRecording.removeNext(in: path, on: disk) {}
    } catch {
      onProblem("deleting recording '\(name)': \(error); the next start tries again")
    }
    // One that was made meanwhile may have the same name.
    let new = directory + "/" + name
    if (try? disk.state(of: new)) == nil { try catalogue.remove(name) }
  }

  private func plan(_ name: String, in path: String) throws(RecordingError) -> Plan {
    var plan = Plan(
      name: name, path: path, known: try catalogue.recording(name),
      knownSegments: try catalogue.segments(of: name))
    let numbers = try Directories.names(in: path, on: disk).compactMap(RecordingFiles.number)
      .sorted()
    // How a recording ended is in its last segment.
    let isEndKnown = plan.known.map { $0.state != RecordingState.recording.rawValue } ?? false
    for number in numbers where number != writing[name]?.segment {
      let file = RecordingFiles.path(of: number, in: path)
      let (state, problem) = try InputFile.state(ofSegment: file, on: disk)
      var row = plan.knownSegments.first { $0.number == number }
      if problem != nil {
        row =
          row?.missing
          ?? SegmentRow(
            recording: name, number: number, bytes: 0, modified: 0, events: 0, frames: 0,
            isDamaged: true)
      } else if row?.isExamined(state) != true || (!isEndKnown && number == numbers.last) {
        row = nil
      }
      plan.segments.append(
        Plan.Segment(
          number: number, file: file, bytes: state.bytes, row: row,
          damage: problem.map { Damage(segment: number, .unreadable($0.description)) }))
    }
    // What was damaged may have been repaired, which only its whole contents can tell.
    if plan.known?.state == RecordingState.damaged.rawValue,
      plan.isRidOfSomething || plan.segments.contains(where: { $0.row == nil })
    {
      for index in plan.segments.indices where plan.segments[index].damage == nil {
        plan.segments[index].row = nil
      }
    }
    return plan
  }

  /// Notes in the catalogue that a recording cannot be examined.
  private func markUnreadable(_ name: String, _ error: RecordingError) throws(RecordingError) {
    var row =
      try catalogue.recording(name)
      ?? RecordingRow(
        name: name, room: Self.room(of: name), state: RecordingState.damaged.rawValue,
        startedAt: RecordingName.startedAt(name))
    row.markDamaged(error.description)
    // Without its segments, so that all of them are read at the next start.
    try catalogue.replace(row, [])
  }

  /// A segment that was read, since the catalogue does not know it as it is.
  private struct Found {
    let segment: Plan.Segment
    private(set) var scan: SegmentScan
    /// The size that it once had for certain.
    private(set) var syncedBytes: Int
    /// Whether its last line announced another segment, which goes.
    private(set) var isReopened = false
    /// The recording that it is of, if that is another one.
    let foreignName: String?
    var isMisplaced: Bool {
      foreignName != nil || scan.header.map { $0.segment != segment.number } ?? false
    }

    /// Takes back that another segment follows.
    mutating func reopen() {
      guard scan.isContinued, scan.goodBytes == segment.bytes else { return }
      scan = scan.withoutEnd
      (syncedBytes, isReopened) = (min(syncedBytes, scan.goodBytes), true)
    }

    /// The same, after what it was is completed: the catalogue may know that as one with a last
    /// line.
    func completed(from earlier: Found) -> Found {
      var found = self
      if earlier.isReopened { (found.syncedBytes, found.isReopened) = (scan.syncedBytes, true) }
      return found
    }
  }

  /// Recovers one recording; `false` if the directory contains none.
  private func recover(_ plan: Plan) throws(RecordingError) -> Bool {
    let position = writing[plan.name]
    var plan = plan
    // Only what was being written when the program ended can be torn.
    var taken = position == nil ? try takeLast(&plan) : nil
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
      segments.append(try row(of: found, in: plan, isTorn: false))
      damage[segment.number] = self.damage(of: found)
      unsaved.append(segments[segments.count - 1])
      // A transaction takes some milliseconds, as long as to read a hundred small ones.
      guard position == nil,
        unsaved.count >= 100
          || unsaved.reduce(0, { $0 + $1.bytes }) >= SegmentReader.blockSize
      else { continue }
      try keep(unsaved, of: plan, scans)
      unsaved = []
    }
    if let position {
      try catalogue.replace(position.row, segments)
      return true
    }
    if let last {
      scans.append(last.scan)
      segments.append(try row(of: last, in: plan, isTorn: true))
      damage[last.segment.number] = self.damage(of: last)
    }
    for row in plan.missing(segments) {
      segments.append(row)
      damage[row.number] = Damage(segment: row.number, .missing)
    }
    segments.sort { $0.number < $1.number }
    guard !segments.isEmpty else {
      // Removes the directory if it is empty; otherwise this fails and leaves it alone.
      try? disk.removeDirectory(plan.path)
      return false
    }
    let isKnown = plan.known.map { $0.state != RecordingState.recording.rawValue } ?? false
    guard !isKnown || !scans.isEmpty || plan.knownSegments != segments else { return true }
    let row = Self.row(plan.name, plan.known, segments, scans, damage)
    if plan.mayBeRenamed, let name = scans.first?.header?.name, name != plan.name {
      onProblem(
        "recording '\(row.name)' was renamed from '\(name)', and is listed with its new name")
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
    // Not while they are announced: they would be missed.
    if let taken, !taken.empty.isEmpty, chain != nil || !taken.found.isReopened {
      remove(taken.empty, of: plan)
    }
    try catalogue.replace(row, segments)
    return true
  }

  /// Whether the log has batches that follow the last mark of a segment.
  private func isContinuedByLog(_ found: Found, of plan: Plan) -> Bool {
    guard let mark = found.scan.mark else { return false }
    return log?.hasTail(of: found.scan.header?.name ?? plan.name, behind: mark.sequence) ?? false
  }

  /// Completes the last segment from the log, if that has more of it: cuts it behind the last mark,
  /// up to which it is known to be on disk, and copies what follows. `nil` if nothing is to be
  /// done, or it cannot be written.
  private func complete(_ found: Found, of plan: Plan) throws(RecordingError) -> Found? {
    let scan = found.scan
    guard let log, let mark = scan.mark, let chain = scan.chain, scan.end == nil,
      scan.goodBytes >= found.syncedBytes, !found.isMisplaced
    else { return nil }
    let name = scan.header?.name ?? plan.name
    do throws(RecordingError) {
      var lines = 0
      let isWhole = try log.readTail(of: name, behind: mark) { lines += $0.ends.count }
      if !isWhole {
        onProblem("recording '\(plan.name)' lacks its end, which the log does not contain")
      }
      // The recording may have more of it than what is left of the log.
      guard lines > chain.number - mark.chain.number else { return nil }
      try SegmentClosing.append(to: found.segment.file, behind: mark, on: disk) {
        append throws(RecordingError) in
        _ = try log.readTail(of: name, behind: mark, append)
      }
    } catch {
      // The disk is full or may only be read.
      onProblem("\(error)")
      return nil
    }
    var segment = found.segment
    segment.bytes = try InputFile.state(of: segment.file, on: disk).bytes
    return try examine(segment, of: plan)?.completed(from: found)
  }

  /// Removes segments in which nothing is, for good: what they were cut to may be so in memory
  /// only, so they must not come back.
  private func remove(_ empty: [Found], of plan: Plan) {
    do throws(RecordingError) {
      for found in empty {
        tellCut(found, of: plan.name)
        _ = try Directories.remove(found.segment.file, on: disk)
      }
      try Directories.sync(plan.path, on: disk)
    } catch {
      onProblem("\(error)")
    }
  }

  /// Takes the last segment out of the plan, and those behind it that were created, but to which
  /// nothing but their first line was written. `nil` if the catalogue knows it.
  private func takeLast(
    _ plan: inout Plan
  ) throws(RecordingError) -> (found: Found, empty: [Found])? {
    var empty: [Found] = []
    while let segment = plan.segments.last, segment.damage == nil,
      segment.row == nil || !empty.isEmpty
    {
      plan.segments.removeLast()
      guard var found = try examine(segment, of: plan) else { continue }
      let isEmpty =
        found.scan.lines == 1 && found.scan.chain != nil && !found.isMisplaced
        && found.syncedBytes <= found.scan.goodBytes
      if isEmpty, !plan.segments.isEmpty {
        empty.append(found)
        continue
      }
      if !empty.isEmpty { found.reopen() }
      // One in which a recording that was closed continued is completed, and not the one before.
      if let next = empty.last, found.scan.end?.state != nil, isContinuedByLog(next, of: plan),
        LineChain.leads(found.scan.chain, to: next.scan.header?.previous)
      {
        plan.segments.append(segment)
        return (next, empty.dropLast())
      }
      return (found, empty)
    }
    // If nothing is left in front of them, the first one is what is left of the recording.
    guard let last = empty.popLast() else { return nil }
    return (last, empty)
  }

  /// Reads a segment; `nil` if there is nothing in it, or if it is not one of ours.
  private func examine(
    _ segment: Plan.Segment, of plan: Plan
  ) throws(RecordingError) -> Found? {
    let scan = try SegmentReader.scan(path: segment.file, on: disk) { progress.note(read: $0) }
    // The catalogue learns of a segment once it is synced.
    let known = plan.knownSegments.first { $0.number == segment.number }
    if scan.isStrange, known == nil {
      // A file that is not ours is left alone and not listed.
      guard scan.isUnwritten else { return nil }
      // A segment that was created, but not even its first line was written, which is synced before
      // anything else.
      if segment.bytes <= SegmentHeader.maximumBytes {
        try? disk.remove(segment.file)
        return nil
      }
    }
    return Found(
      segment: segment, scan: scan,
      syncedBytes: max(scan.syncedBytes, known?.lastLine == nil ? 0 : known?.bytes ?? 0),
      foreignName: foreignName(scan, of: segment, known, in: plan))
  }

  /// The recording that a segment is of, if that is another one.
  private func foreignName(
    _ scan: SegmentScan, of segment: Plan.Segment, _ known: SegmentRow?, in plan: Plan
  ) -> String? {
    guard let name = scan.header?.name, name != plan.name, !plan.mayBeRenamed else { return nil }
    guard let known, !known.isForeign else { return name }
    // A renamed recording has the lines that it had when it was first seen under its name, or is
    // damaged.
    let isWhole = scan.end != nil && !scan.isDamaged
    let isSame =
      isWhole
      ? known.chain == scan.chain && known.contents == scan.contents
      : segment.bytes <= known.bytes
    return isSame ? nil : name
  }

  /// What is wrong with a segment that is one of another recording.
  private func damage(of found: Found) -> Damage? {
    found.foreignName.map { Damage(segment: found.segment.number, .foreign($0)) }
  }

  /// The catalogue's row for a segment that was read.
  ///
  /// - Parameter isTorn: whether lines behind the good ones may be cut off, which nobody knows of:
  ///   they were not synced.
  private func row(
    of found: Found, in plan: Plan, isTorn: Bool
  ) throws(RecordingError) -> SegmentRow {
    let scan = found.scan
    var isDamaged = scan.isDamaged
    if scan.isChained {
      isDamaged =
        scan.goodBytes == 0 || scan.goodBytes < found.syncedBytes
        || (scan.goodBytes < found.segment.bytes && (!isTorn || scan.end != nil))
    } else if scan.goodBytes > 0, !found.isMisplaced {
      try cut(found)
    }
    return try RecordingFiles.row(
      plan.name, found.segment.number, found.segment.file, scan.contents,
      chain: found.isMisplaced ? nil : scan.chain, previous: scan.header?.previous,
      isDamaged: isDamaged || found.isMisplaced, on: disk)
  }

  /// Saves what was read of a recording so far, which counts as being recorded until all is read.
  private func keep(
    _ segments: [SegmentRow], of plan: Plan, _ scans: [SegmentScan]
  ) throws(RecordingError) {
    let header = scans.first?.header
    let row = RecordingRow(
      name: plan.name, room: header?.room ?? Self.room(of: plan.name),
      state: RecordingState.recording.rawValue,
      startedAt: header?.startedAt ?? RecordingName.startedAt(plan.name))
    try catalogue.save(segments, of: plan.known == nil ? row : nil)
  }

  /// Cuts off everything behind the last good line of a segment of version 1 that was not closed.
  private func cut(_ found: Found) throws(RecordingError) {
    guard found.scan.end == nil, found.scan.goodBytes < found.segment.bytes else { return }
    do throws(RecordingError) {
      _ = try OutputFile(cutting: found.segment.file, to: found.scan.goodBytes, on: disk)
    } catch .file(_, _, EROFS) {
      return
    }
  }

  /// Cuts off what was being written when the program ended, none of which was acknowledged, writes
  /// the last line if there is none, and syncs all of it, since what comes next relies on it: a
  /// program that was killed leaves lines and entries that may still get lost. Returns the end of
  /// the chain; `nil` if that fails.
  private func close(_ last: Found, of row: RecordingRow) -> LineChain? {
    guard let chain = last.scan.chain, row.state != RecordingState.damaged.rawValue else {
      return nil
    }
    tellCut(last, of: row.name)
    var end = SegmentEnd(events: last.scan.contents.events, frames: last.scan.contents.frames)
    end.state = RecordingState(rawValue: row.state)
    end.reason = row.reason
    do throws(RecordingError) {
      return try SegmentClosing.close(
        last.segment.file, syncedBytes: last.scan.syncedBytes, at: last.scan.goodBytes, chain,
        with: last.scan.end == nil ? end : nil, on: disk)
    } catch {
      // The disk is full or may only be read: what is there can be read all the same.
      onProblem("\(error)")
      return nil
    }
  }

  private func tellCut(_ found: Found, of recording: String) {
    let cut = found.segment.bytes - found.scan.goodBytes
    guard cut > 0, !found.isReopened, let chain = found.scan.chain else { return }
    onProblem(
      "recording '\(recording)': cutting off \(Format.count(cut, "byte")) after line \(chain.number) in "
        + "segment \(found.segment.number), not synced when the program ended")
  }

  /// The catalogue's row for a recording.
  ///
  /// - Parameters:
  ///   - scans: of the segments that were read, in their order.
  ///   - damage: what is known of it, by the numbers of the segments.
  static func row(
    _ name: String, _ known: RecordingRow?, _ segments: [SegmentRow], _ scans: [SegmentScan],
    _ damage: [Int: Damage] = [:]
  ) -> RecordingRow {
    let header = scans.lazy.compactMap(\.header).first
    // What was unreadable or damaged, and has been read from beginning to end, is what its files
    // say.
    let isObsolete =
      known?.state == RecordingState.damaged.rawValue && scans.count == segments.count
    let known = isObsolete ? nil : known
    var row =
      known
      ?? RecordingRow(
        name: name, room: header?.room ?? room(of: name),
        state: RecordingState.recording.rawValue,
        startedAt: header?.startedAt ?? RecordingName.startedAt(name))
    if let end = scans.last?.end, let state = end.state {
      row.state = state.rawValue
      row.reason = end.reason
      row.endedAt = end.endedAt
      row.digest = end.digest
    }
    if row.state == RecordingState.recording.rawValue {
      row.state = RecordingState.interrupted.rawValue
    }
    var before: SegmentRow?
    for segment in segments {
      let number = (before?.number ?? 0) + 1
      if segment.number != number {
        row.markDamaged(Damage(segment: number, .missing))
      } else if segment.isDamaged {
        row.markDamaged(
          damage[number] ?? Damage(segment: number, lastGoodLine: segment.lastLine))
      } else if !LineChain.leads(before?.chain, to: segment.previous) {
        row.markDamaged("segment \(number) does not continue the previous segment")
      } else {
        before = segment
        continue
      }
      return row
    }
    if let before, let last = scans.last, last.isContinued, last.chain == before.chain {
      row.markDamaged(Damage(segment: before.number + 1, .missing))
    }
    return row
  }

  /// The room with which the name of a recording begins.
  private static func room(of name: String) -> String {
    name.lastIndex(of: "-").map { String(name[..<$0]) } ?? name
  }
}
