import LiveEvents
import RateLimiting

/// What a node did with snapshots and acts, for its status, and what went wrong.
struct SnapshotCounts: Sendable {
  /// How long it is told that a snapshot could not be used.
  private static let memory = Interval.seconds(3600)
  /// Fewer failures in a row are not told: a room may have been closed, or moved, meanwhile.
  private static let few = 3
  /// How many of a kind are told.
  private static let most = 8

  private(set) var stored = 0
  var loaded = 0
  /// Attempts that failed; they are repeated.
  private(set) var failed = 0
  private(set) var unusable = 0
  var acts = 0
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

  /// The daemon does not have a room of which it was given something.
  mutating func noteRefused(_ room: RoomName) {
    let reason =
      "livehostd does not take it; if it has as many rooms as rooms.maximum allows, raise that and reload it"
    failing[room] = (reason, Self.few)
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
  func problems() -> [Problem] {
    let failing = failing.filter { $0.value.count >= Self.few }.sorted { $0.key < $1.key }
    guard !failing.isEmpty else { return [] }
    var rooms = failing.prefix(Self.most).map { "\($0) (\($1.reason))" }
    if failing.count > Self.most { rooms.append("\(failing.count - Self.most) more") }
    return [
      Problem(
        "snapshots",
        "no snapshot can be stored, and the log keeps a day only, of room "
          + rooms.joined(separator: ", "))
    ]
  }

  /// The newest that could not be used, in words. They happened, and do not end.
  func unusable(at now: Instant) -> [String] {
    newestUnusable.filter { now - $0.at < Self.memory }.map(\.text)
  }
}
