import GRDB
import Glibc

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

  /// Marks the recording as damaged; why, as a sentence for people.
  mutating func damage(_ reason: String) {
    state = RecordingSummary.State.damaged.rawValue
    self.reason = reason
  }

  /// Marks the recording as damaged by one of its segments.
  mutating func damage(segment: Int) { damage("segment \(segment) is not what was written") }
}

/// A segment as a row of the catalogue: an index of the recording by time.
struct SegmentRow: Codable, Equatable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "segment"
  var recording: String
  var number: Int
  /// Size of its file, and when that was changed last, in nanoseconds since 1970: whether it is still
  /// the file that was looked at.
  var bytes: Int
  var modified: Int
  var events: Int
  var frames: Int
  /// The room's time at its first and last step, in nanoseconds.
  var firstAt: Int64?
  var lastAt: Int64?
  /// CRC-32 of the segment, eight hexadecimal digits; `nil` if it was never closed.
  var crc32: String?
  var isDamaged: Bool

  var contents: SegmentContents {
    SegmentContents(events: events, frames: frames, first: firstAt, last: lastAt)
  }
}

/// Which recordings there are, in SQLite. Everything in it can be made again from the segments.
///
/// Where it cannot be written (a full disk, say), it goes on in memory, so that it tells the truth while
/// the program runs; the next start makes it again. Belongs to one thread.
final class Catalogue {
  private let path: String
  private var database: DatabaseQueue
  private var isInMemory: Bool
  /// Whether it told or took something wrongly: then it is to be made again.
  private(set) var isDamaged = false
  private let onProblem: @Sendable (String) -> Void

  /// Opens or makes the catalogue. One that is damaged is put aside, for whoever wants to look at it.
  ///
  /// - Throws: if there is no memory for one.
  init(
    path: String, onProblem: @escaping @Sendable (String) -> Void
  ) throws(RecordingError) {
    self.path = path
    self.onProblem = onProblem
    do throws(RecordingError) {
      database = try Self.open(path)
      isInMemory = false
    } catch {
      (database, isInMemory) = try Self.make(path, instead: error, onProblem)
    }
  }

  /// Begins again, empty.
  func remake(because error: RecordingError) throws(RecordingError) {
    try? database.close()
    (database, isInMemory) = try Self.make(path, instead: error, onProblem)
    isDamaged = false
  }

  private static func open(_ path: String) throws(RecordingError) -> DatabaseQueue {
    try told {
      let database = try DatabaseQueue(path: path)
      let verdict = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
      guard verdict == "ok" else { throw DatabaseError(message: verdict ?? "unreadable") }
      try migrator.migrate(database)
      return database
    }
  }

  /// An empty one, in memory if the disk has no place for it.
  private static func make(
    _ path: String, instead error: RecordingError, _ onProblem: (String) -> Void
  ) throws(RecordingError) -> (DatabaseQueue, isInMemory: Bool) {
    onProblem("\(error); it is made again from the segments")
    rename(path, path + ".damaged")
    unlink(path + "-journal")
    do throws(RecordingError) {
      return (try open(path), false)
    } catch {
      onProblem("\(error); it is kept in memory")
    }
    let memory = try told {
      let database = try DatabaseQueue()
      try migrator.migrate(database)
      return database
    }
    return (memory, true)
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

  /// In their order.
  func segments(of recording: String) throws(RecordingError) -> [SegmentRow] {
    try read {
      try SegmentRow.filter(sql: "recording = ?", arguments: [recording]).order(sql: "number")
        .fetchAll($0)
    }
  }

  // MARK: Writing

  func save(_ row: RecordingRow) throws(RecordingError) { try write { try row.save($0) } }

  func save(_ row: SegmentRow) throws(RecordingError) { try write { try row.save($0) } }

  /// Replaces all that is known of a recording.
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
    do throws(RecordingError) {
      return try Self.told { try database.read(body) }
    } catch {
      isDamaged = true
      throw error
    }
  }

  private func write(_ body: (Database) throws -> Void) throws(RecordingError) {
    let problem: RecordingError
    do throws(RecordingError) {
      return try Self.told { try database.write(body) }
    } catch {
      problem = error
    }
    do throws(RecordingError) {
      if !isInMemory { try goOnInMemory() }
      return try Self.told { try database.write(body) }
    } catch {
      isDamaged = true
      throw problem
    }
  }

  /// With all that it tells so far.
  private func goOnInMemory() throws(RecordingError) {
    database = try Self.told {
      let memory = try DatabaseQueue()
      try database.backup(to: memory)
      return memory
    }
    isInMemory = true
  }

  private static func told<R>(_ body: () throws -> R) throws(RecordingError) -> R {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw .catalogue(error.message ?? "error \(error.resultCode.rawValue)")
    } catch {
      throw .catalogue("\(error)")
    }
  }
}
