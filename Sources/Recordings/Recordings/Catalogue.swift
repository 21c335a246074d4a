import FileSystem
import GRDB
import Glibc
import LiveEvents

/// A recording as a row of the catalogue.
struct RecordingRow: Codable, Equatable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "recording"
  var name: String
  var room: String
  var state: String
  var reason: String?
  var startedAt: Int
  var endedAt: Int?
  var digest: String?

  /// Marks the recording as damaged, for a reason that people can read.
  mutating func markDamaged(_ reason: String) {
    state = RecordingState.damaged.rawValue
    self.reason = reason
  }

  mutating func markDamaged(_ damage: Damage) { markDamaged(damage.description) }
}

/// A segment as a row of the catalogue; together the rows index a recording by time.
struct SegmentRow: Codable, Equatable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "segment"
  var recording: String
  var number: Int
  /// Size of its file in bytes, and when the file last changed, in nanoseconds since 1970. If both
  /// still match, the file is the one that was examined.
  var bytes: Int
  var modified: Int
  var events: Int
  var frames: Int
  /// The room's time at its first and last step, in nanoseconds.
  var firstAt: Int64?
  var lastAt: Int64?
  /// The checksum with which the segment before it ends, as its header says.
  var previous: String?
  /// The number and the checksum of its last valid line; `nil` if its lines are not chained.
  var lastLine: Int?
  var lastChecksum: Int64?
  var isDamaged: Bool

  var contents: SegmentContents {
    SegmentContents(events: events, frames: frames, first: firstAt, last: lastAt)
  }

  /// Whether a file is the one that was examined.
  func isExamined(_ state: FileState) -> Bool {
    bytes == state.bytes && modified == state.modified
  }

  /// Whether its file is not one of the recording, as far as is known: such a one has no last valid
  /// line.
  var isForeign: Bool { isDamaged && lastLine == nil }

  /// Whether there is no such file, and none that was in its place is known.
  var isNothing: Bool { isForeign && modified == 0 }

  /// What is left of it if there is no such file any more. The row remains: it says that there was
  /// one.
  var missing: SegmentRow {
    var row = self
    (row.bytes, row.modified, row.events, row.frames) = (0, 0, 0, 0)
    (row.firstAt, row.lastAt, row.isDamaged) = (nil, nil, true)
    return row
  }

  var chain: LineChain? {
    guard let lastLine, let lastChecksum else { return nil }
    return LineChain(number: lastLine, checksum: UInt32(truncatingIfNeeded: lastChecksum))
  }
}

/// The list of recordings, in SQLite. Everything in it can be rebuilt from the segments.
///
/// If the file cannot be written (the disk is full, say), the catalogue continues in memory, so
/// that it stays correct while the program runs; the next start rebuilds it. While another program
/// holds the file (a backup, say), changes wait. Belongs to one thread.
final class Catalogue {
  /// How long an access waits for another program, in seconds. What waits for the disk waits as
  /// long.
  private static let patience = 0.5
  /// How often opening tries again.
  private static let attempts = 10

  private let path: String
  private var database: DatabaseQueue
  private var isInMemory: Bool
  /// Whether a read or a write failed; the catalogue must then be rebuilt.
  private(set) var isDamaged = false
  /// Changes that another program keeps from being written.
  private var unsaved: [(Database) throws -> Void] = []
  private let onProblem: @Sendable (String) -> Void

  /// Opens or creates the catalogue. A damaged file is renamed, so that it can be examined later.
  ///
  /// - Throws: if not even a catalogue in memory can be created.
  init(
    path: String, onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.path = path
    self.onProblem = onProblem
    do throws(RecordingError) {
      database = try Self.openPatiently(path)
      isInMemory = false
    } catch .catalogueBusy {
      // Not damaged: it must be there when the other program is done with it.
      onProblem("\(RecordingError.catalogueBusy); a new catalogue is kept in memory")
      (database, isInMemory) = (try Self.openInMemory(), true)
    } catch {
      (database, isInMemory) = try Self.replace(path, because: error, onProblem)
    }
  }

  /// Starts over with an empty catalogue.
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
    // SQLite opens what has these names, and to open a pipe might never end.
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

  /// - Throws: if a number is not one of ``KeptNumbers``, or the sum of those of all segments is
  ///   not.
  private static func checkNumbers(_ database: Database) throws {
    func check(_ table: String, _ column: String, _ range: ClosedRange<Int64>, sum: String = "max")
      throws
    {
      // What is not a number at all is more than any.
      let isPossible = try Bool.fetchOne(
        database,
        sql: """
          SELECT ifnull(min(\(column)) >= ? AND max(\(column)) <= ? AND \(sum)(\(column)) <= ?, 1)
          FROM \(table)
          """, arguments: [range.lowerBound, range.upperBound, range.upperBound])
      guard isPossible == true else {
        throw DatabaseError(message: "the number in \(column) exists in no row of \(table)")
      }
    }
    let counts = Int64(KeptNumbers.range.lowerBound)...Int64(KeptNumbers.range.upperBound)
    for column in ["bytes", "events", "frames"] {
      try check("segment", column, counts, sum: "total")
    }
    for column in ["number", "lastLine"] { try check("segment", column, counts) }
    for column in ["firstAt", "lastAt"] {
      try check("segment", column, -KeptNumbers.latest...KeptNumbers.latest)
    }
    for column in ["startedAt", "endedAt"] { try check("recording", column, counts) }
    try check("scrub", "checkedAt", counts)
  }

  /// Puts an empty catalogue in the place of an unusable one: on disk, or else in memory.
  private static func replace(
    _ path: String, because error: RecordingError, _ onProblem: (String) -> Void
  ) throws(RecordingError) -> (DatabaseQueue, isInMemory: Bool) {
    onProblem("\(error); rebuilding it from the segments")
    rename(path, path + ".damaged")
    unlink(path + "-journal")
    do throws(RecordingError) {
      return (try open(path), false)
    } catch {
      onProblem("\(error); the catalogue is kept in memory")
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
      // A table of its own: the row of a recording is written by whoever records it.
      try database.create(table: "scrub") { table in
        table.primaryKey("recording", .text).references("recording", onDelete: .cascade)
        table.column("checkedAt", .integer).notNull()
      }
    }
    return migrator
  }

  // MARK: Reading

  /// Oldest first.
  func recordings() throws(RecordingError) -> [RecordingRow] {
    try read { try RecordingRow.order(sql: "startedAt, name").fetchAll($0) }
  }

  func recording(_ name: String) throws(RecordingError) -> RecordingRow? {
    try read { try RecordingRow.fetchOne($0, key: name) }
  }

  /// In ascending order of their numbers.
  func segments(of recording: String) throws(RecordingError) -> [SegmentRow] {
    try read {
      try SegmentRow.filter(sql: "recording = ?", arguments: [recording]).order(sql: "number")
        .fetchAll($0)
    }
  }

  /// Of all recordings, in ascending order of their numbers.
  func segments() throws(RecordingError) -> [SegmentRow] {
    try read { try SegmentRow.order(sql: "number").fetchAll($0) }
  }

  /// The undamaged recording that was checked longest ago, or made if it never was, and before
  /// `time`.
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

  /// Does nothing if the recording is not there any more.
  func noteChecked(_ recording: String, at time: Int) throws(RecordingError) {
    try write {
      try $0.execute(
        sql: "INSERT OR REPLACE INTO scrub SELECT name, ? FROM recording WHERE name = ?",
        arguments: [time, recording])
    }
  }

  func save(_ row: RecordingRow) throws(RecordingError) { try write { try row.save($0) } }

  /// - Parameter recording: to be saved before its segments.
  func save(
    _ segments: [SegmentRow], of recording: RecordingRow? = nil
  ) throws(RecordingError) {
    try write { database in
      try recording?.save(database)
      for segment in segments { try segment.save(database) }
    }
  }

  /// Replaces everything that is known about a recording.
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

  /// - Throws: ``RecordingError/catalogueBusy``: nothing is changed then.
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

  /// Continues in memory with the current contents.
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
