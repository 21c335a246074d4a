import LiveEvents
import RateLimiting

/// Counts the snapshots and host actions that a node has handled, and lists its rooms that have no
/// snapshot.
struct SnapshotCounts: Sendable {
  /// How long the status mentions a snapshot that could not be used.
  private static let memory = Interval.seconds(3600)
  /// The number of consecutive failures after which a problem is reported. Fewer failures are
  /// normal, because a room may have been closed or moved.
  private static let few = 3
  /// The maximum number of rooms, and of unusable snapshots, that the status lists.
  private static let most = 8

  private(set) var stored = 0
  private(set) var loaded = 0
  /// The number of failed attempts to store a snapshot. Every failed attempt is repeated later.
  private(set) var failed = 0
  private(set) var unusable = 0
  private(set) var acts = 0
  private var newestUnusable: [(text: String, at: Instant)] = []
  /// For each room without a snapshot, the reason why none can be stored and the number of
  /// attempts.
  private var failing: [RoomName: (reason: String, count: Int)] = [:]

  mutating func recordAct() { acts += 1 }

  mutating func recordStored(_ room: RoomName) {
    stored += 1
    failing[room] = nil
  }

  mutating func recordFailed(_ room: RoomName, _ reason: String) {
    failed += 1
    failing[room] = (reason, (failing[room]?.count ?? 0) + 1)
  }

  /// Records a room that the daemon does not have, although the daemon received the room's events.
  mutating func recordRefused(_ room: RoomName) {
    let reason =
      "livehostd refuses to open the room; if it has as many rooms as rooms.maximum allows,"
      + " raise that limit and reload it"
    failing[room] = (reason, Self.few)
  }

  /// - Parameter texts: a description of each snapshot that could not be used.
  mutating func recordLoaded(_ count: Int, unusable texts: [String], at now: Instant) {
    loaded += count
    unusable += texts.count
    newestUnusable = (newestUnusable + texts.map { ($0, now) }).suffix(Self.most)
  }

  /// Forgets the rooms of a partition, because the node no longer leads the partition.
  mutating func forget(_ partition: Partition) {
    failing = failing.filter { Partition(of: $0.key) != partition }
  }

  func problems() -> [Problem] {
    let failing = failing.filter { $0.value.count >= Self.few }.sorted { $0.key < $1.key }
    guard !failing.isEmpty else { return [] }
    var rooms = failing.prefix(Self.most).map { "\($0) (\($1.reason))" }
    if failing.count > Self.most { rooms.append("\(failing.count - Self.most) more") }
    return [
      Problem(
        "snapshots",
        "snapshots cannot be stored, and the replicated log keeps events for only a day: room "
          + rooms.joined(separator: ", "))
    ]
  }

  /// Descriptions of the newest snapshots that could not be used. They are not listed as problems,
  /// because a problem ends at some time and an unusable snapshot is a single event.
  func unusable(at now: Instant) -> [String] {
    newestUnusable.filter { now - $0.at < Self.memory }.map(\.text)
  }
}
