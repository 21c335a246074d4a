import FileSystem
import GRDB
import Glibc
import LiveEvents
import RateLimiting

/// The catalogue of recordings, in SQLite. It can be rebuilt from the segments.
///
/// If the file cannot be written, for example on a full disk, the catalogue continues in memory,
/// and the next start rebuilds it. While another program, such as a backup, locks the file, changes
/// are kept and written later. Belongs to one thread.
final class Catalogue {
  /// How long an access waits for another program, in seconds. Acknowledgements are delayed by the
  /// same time.
  private static let patience = 0.5
  /// How many times opening is tried while another program locks the file.
  private static let attempts = 10

  private let path: String
  private var database: DatabaseQueue
  private var isInMemory: Bool
  /// Whether a read or a write failed, so that the catalogue must be rebuilt.
  private(set) var isDamaged = false
  /// Changes that could not be written because another program locks the file.
  private var unsaved: [(Database) throws -> Void] = []
  private let onProblem: @Sendable (String) -> Void

  /// Opens or creates the catalogue. A damaged file is renamed, so that users can examine it.
  ///
  /// - Throws: if a catalogue in memory cannot be created either.
  init(
    path: String, onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.path = path
    self.onProblem = onProblem
    do throws(RecordingError) {
      database = try Self.openPatiently(path)
      isInMemory = false
    } catch .catalogueBusy {
      // The file is locked and not damaged, so it is not replaced.
      onProblem("\(RecordingError.catalogueBusy); using a new one in memory")
      (database, isInMemory) = (try Self.openInMemory(), true)
    } catch {
      (database, isInMemory) = try Self.replace(path, because: error, onProblem)
    }
  }

  /// Replaces the catalogue by an empty one.
  func reset(because error: RecordingError) throws(RecordingError) {
    try? database.close()
    (database, isInMemory) = try Self.replace(path, because: error, onProblem)
    isDamaged = false
    unsaved = []
  }

  private static func openPatiently(_ path: String) throws(RecordingError) -> DatabaseQueue {
    for _ in 1..<attempts {
      do throws(RecordingError) {
        return try open(path)
      } catch {
        guard case .catalogueBusy = error else { throw error }
      }
    }
    return try open(path)
  }

  private static func openInMemory() throws(RecordingError) -> DatabaseQueue {
    try wrappingErrors {
      let database = try DatabaseQueue()
      try migrator.migrate(database)
      return database
    }
  }

  private static func open(_ path: String) throws(RecordingError) -> DatabaseQueue {
    // SQLite opens these files. Opening a pipe could block forever.
    for name in [path + "-journal", path + "-wal"]
    where (try? SystemDisk().state(of: name))?.kind == .other { unlink(name) }
    return try wrappingErrors {
      var configuration = Configuration()
      configuration.busyMode = .timeout(patience)
      let database = try DatabaseQueue(path: path, configuration: configuration)
      let verdict = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
      guard verdict == "ok" else { throw DatabaseError(message: verdict ?? "unreadable") }
      try migrator.migrate(database)
      try database.read(checkNumbers)
      return database
    }
  }

  /// Verifies that all numbers, and their sums over all segments, are in the range that this
  /// program writes.
  private static func checkNumbers(_ database: Database) throws {
    func check(_ table: String, _ column: String, _ range: ClosedRange<Int64>, sum: String = "max")
      throws
    {
      // In SQLite, other types are larger than any number.
      let isPossible = try Bool.fetchOne(
        database,
        sql: """
          SELECT ifnull(min(\(column)) >= ? AND max(\(column)) <= ? AND \(sum)(\(column)) <= ?, 1)
          FROM \(table)
          """, arguments: [range.lowerBound, range.upperBound, range.upperBound])
      guard isPossible == true else {
        throw DatabaseError(
          message: "the column \(column) of the table \(table) contains an impossible number")
      }
    }
    let counts = Int64(EventLimits.total.lowerBound)...Int64(EventLimits.total.upperBound)
    for column in ["bytes", "events", "frames"] {
      try check("segment", column, counts, sum: "total")
    }
    for column in ["number", "lastLine"] { try check("segment", column, counts) }
    let latest = SegmentLines.latest.nanoseconds
    for column in ["firstAt", "lastAt"] {
      try check("segment", column, -latest...latest)
    }
    for column in ["startedAt", "endedAt"] { try check("recording", column, counts) }
    try check("scrub", "checkedAt", counts)
  }

  /// Replaces an unusable catalogue by an empty one, on disk or, if that fails, in memory.
  private static func replace(
    _ path: String, because error: RecordingError, _ onProblem: (String) -> Void
  ) throws(RecordingError) -> (DatabaseQueue, isInMemory: Bool) {
    onProblem("\(error); rebuilding it from the segments")
    rename(path, path + ".damaged")
    unlink(path + "-journal")
    do throws(RecordingError) {
      return (try open(path), false)
    } catch {
      onProblem("\(error); using a catalogue in memory")
    }
    return (try openInMemory(), true)
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { database in
      try database.create(table: "recording") { table in
        table.primaryKey("name", .text)
        table.column("room", .text).notNull().indexed()
        table.column("state", .text).notNull()
        table.column("reason", .text)
        table.column("startedAt", .integer).notNull()
        table.column("endedAt", .integer)
        table.column("digest", .text)
      }
      try database.create(table: "segment") { table in
        table.column("recording", .text).notNull()
          .references("recording", onDelete: .cascade)
        table.column("number", .integer).notNull()
        table.column("bytes", .integer).notNull()
        table.column("modified", .integer).notNull()
        table.column("events", .integer).notNull()
        table.column("frames", .integer).notNull()
        table.column("firstAt", .integer)
        table.column("lastAt", .integer)
        table.column("crc32", .text)
        table.column("isDamaged", .boolean).notNull()
        table.primaryKey(["recording", "number"])
      }
      try database.create(index: "segmentByTime", on: "segment", columns: ["recording", "firstAt"])
    }
    migrator.registerMigration("2") { database in
      try database.alter(table: "segment") { table in
        table.add(column: "previous", .text)
        table.add(column: "lastLine", .integer)
        table.add(column: "lastChecksum", .integer)
      }
    }
    migrator.registerMigration("3") { database in
      // A separate table, because the row of a recording is replaced while it is being written.
      try database.create(table: "scrub") { table in
        table.primaryKey("recording", .text).references("recording", onDelete: .cascade)
        table.column("checkedAt", .integer).notNull()
      }
    }
    return migrator
  }

  // MARK: Reading

  /// Returns all recordings, oldest first.
  func recordings() throws(RecordingError) -> [RecordingRow] {
    try read { try RecordingRow.order(sql: "startedAt, name").fetchAll($0) }
  }

  func recording(_ name: String) throws(RecordingError) -> RecordingRow? {
    try read { try RecordingRow.fetchOne($0, key: name) }
  }

  /// Returns the segments of a recording, in ascending order of their numbers.
  func segments(of recording: String) throws(RecordingError) -> [SegmentRow] {
    try read {
      try SegmentRow.filter(sql: "recording = ?", arguments: [recording]).order(sql: "number")
        .fetchAll($0)
    }
  }

  /// Returns the segments of all recordings, in ascending order of their numbers.
  func segments() throws(RecordingError) -> [SegmentRow] {
    try read { try SegmentRow.order(sql: "number").fetchAll($0) }
  }

  /// Returns the undamaged recording that was verified longest ago, if that was before `time`. A
  /// recording that was never verified counts as verified at its start.
  func leastRecentlyChecked(before time: Int) throws(RecordingError) -> String? {
    try read {
      try String.fetchOne(
        $0,
        sql: """
          SELECT name FROM recording LEFT JOIN scrub ON scrub.recording = name
          WHERE state <> ? AND ifnull(checkedAt, startedAt) < ?
          ORDER BY ifnull(checkedAt, startedAt), name LIMIT 1
          """, arguments: [RecordingState.damaged.rawValue, time])
    }
  }

  // MARK: Writing

  /// Records when a recording was verified. Does nothing if the recording does not exist.
  func noteChecked(_ recording: String, at time: Int) throws(RecordingError) {
    try write {
      try $0.execute(
        sql: "INSERT OR REPLACE INTO scrub SELECT name, ? FROM recording WHERE name = ?",
        arguments: [time, recording])
    }
  }

  func save(_ row: RecordingRow) throws(RecordingError) { try write { try row.save($0) } }

  /// Saves segments.
  ///
  /// - Parameter recording: a row that is saved before its segments.
  func save(
    _ segments: [SegmentRow], of recording: RecordingRow? = nil
  ) throws(RecordingError) {
    try write { database in
      try recording?.save(database)
      for segment in segments { try segment.save(database) }
    }
  }

  /// Replaces a recording and all its segments.
  func replace(_ row: RecordingRow, _ segments: [SegmentRow]) throws(RecordingError) {
    try write { database in
      try RecordingRow.deleteOne(database, key: row.name)
      try row.insert(database)
      for segment in segments { try segment.insert(database) }
    }
  }

  func remove(_ name: String) throws(RecordingError) {
    try write { _ = try RecordingRow.deleteOne($0, key: name) }
  }

  private func read<R>(_ body: (Database) throws -> R) throws(RecordingError) -> R {
    if !unsaved.isEmpty { try save(unsaved) }
    do throws(RecordingError) {
      return try Self.wrappingErrors { try database.read(body) }
    } catch {
      if case .catalogueBusy = error { throw error }
      isDamaged = true
      throw error
    }
  }

  private func write(_ body: @escaping (Database) throws -> Void) throws(RecordingError) {
    let changes = unsaved + [body]
    do throws(RecordingError) {
      try save(changes)
    } catch .catalogueBusy {
      unsaved = changes
    } catch {
      throw error
    }
  }

  /// - Throws: ``RecordingError/catalogueBusy`` if another program locks the file. Nothing was
  ///   changed.
  private func save(_ changes: [(Database) throws -> Void]) throws(RecordingError) {
    let problem: RecordingError
    do throws(RecordingError) {
      try apply(changes)
      return
    } catch {
      if case .catalogueBusy = error { throw error }
      problem = error
    }
    do throws(RecordingError) {
      if !isInMemory { try moveToMemory() }
      try apply(changes)
    } catch {
      isDamaged = true
      throw problem
    }
  }

  private func apply(_ changes: [(Database) throws -> Void]) throws(RecordingError) {
    try Self.wrappingErrors {
      try database.write { database in for change in changes { try change(database) } }
    }
    unsaved = []
  }

  /// Moves the catalogue to memory, with its current contents.
  private func moveToMemory() throws(RecordingError) {
    database = try Self.wrappingErrors {
      let memory = try DatabaseQueue()
      try database.backup(to: memory)
      return memory
    }
    isInMemory = true
  }

  private static func wrappingErrors<R>(_ body: () throws -> R) throws(RecordingError) -> R {
    do {
      return try body()
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
    {
      throw .catalogueBusy
    } catch let error as DatabaseError {
      throw .catalogue(error.message ?? "error \(error.resultCode.rawValue)")
    } catch {
      throw .catalogue("\(error)")
    }
  }
}
