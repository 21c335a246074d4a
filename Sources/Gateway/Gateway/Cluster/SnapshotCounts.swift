import LiveEvents
import RateLimiting

/// What a node did with snapshots and acts, for its status, and what went wrong.
struct SnapshotCounts: Sendable {
  /// How long it is told that a snapshot could not be used.
  private static let memory = Interval.seconds(3600)
  /// How many of a kind are told.
  private static let most = 8

  private(set) var stored = 0
  var loaded = 0
  /// Attempts that failed; they are repeated.
  private(set) var failed = 0
  private(set) var unusable = 0
  var acts = 0
  /// The newest that could not be used, in words.
  private var newestUnusable: [(text: String, at: Instant)] = []
  /// Rooms of which none can be stored, why, and how many attempts there were.
  private var failing: [RoomName: (reason: String, count: Int)] = [:]

  mutating func noteStored(_ room: RoomName) {
    stored += 1
    failing[room] = nil
  }

  mutating func noteFailed(_ room: RoomName, _ reason: String) {
    failed += 1
    failing[room] = (reason, (failing[room]?.count ?? 0) + 1)
  }

  mutating func note(unusable texts: [String], at now: Instant) {
    unusable += texts.count
    newestUnusable = (newestUnusable + texts.map { ($0, now) }).suffix(Self.most)
  }

  /// Another node has a partition.
  mutating func forget(_ partition: Partition) {
    failing = failing.filter { Partition(of: $0.key) != partition }
  }

  /// What is wrong.
  func problems(at now: Instant) -> [Problem] {
    // Once or twice is nothing: it may have been closed, or moved, meanwhile.
    let failing = failing.filter { $0.value.count >= 3 }.sorted { $0.key < $1.key }
    var problems = failing.prefix(Self.most).map { room, failure in
      Problem(
        "snapshot \(room)",
        "no snapshot of room \(room) can be stored, and the log keeps a day: \(failure.reason)")
    }
    if failing.count > Self.most {
      let rest = failing.count - Self.most
      problems.append(Problem("snapshots", "nor of \(rest) other room\(rest == 1 ? "" : "s")"))
    }
    for (text, at) in newestUnusable where now - at < Self.memory {
      problems.append(Problem(text, text))
    }
    return problems
  }
}
