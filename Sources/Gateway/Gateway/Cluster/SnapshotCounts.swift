import LiveEvents
import RateLimiting

/// How many snapshots and acts a node has handled, and which of its rooms have no snapshot. A
/// value.
struct SnapshotCounts: Sendable {
  /// How long the status names a snapshot that could not be used.
  private static let memory = Interval.seconds(3600)
  /// The number of failures in a row that makes a problem. Fewer are normal: a room may have been
  /// closed or moved.
  private static let few = 3
  /// How many rooms and unusable snapshots are named at most.
  private static let most = 8

  private(set) var stored = 0
  private(set) var loaded = 0
  /// Attempts to store that failed; they are repeated.
  private(set) var failed = 0
  private(set) var unusable = 0
  private(set) var acts = 0
  private var newestUnusable: [(text: String, at: Instant)] = []
  /// The rooms without a snapshot: why none can be stored, and how many attempts there were.
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

  /// The daemon does not have a room whose events it was given.
  mutating func recordRefused(_ room: RoomName) {
    let reason =
      "livehostd does not open it; if it has as many rooms as rooms.maximum allows,"
      + " raise that limit and reload it"
    failing[room] = (reason, Self.few)
  }

  /// - Parameter texts: a description of each snapshot that could not be used.
  mutating func recordLoaded(_ count: Int, unusable texts: [String], at now: Instant) {
    loaded += count
    unusable += texts.count
    newestUnusable = (newestUnusable + texts.map { ($0, now) }).suffix(Self.most)
  }

  /// The node has lost a partition.
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
        "no snapshot can be stored, and the replicated log keeps only a day, of room "
          + rooms.joined(separator: ", "))
    ]
  }

  /// Descriptions of the newest snapshots that could not be used. They are events rather than
  /// problems: they do not end.
  func unusable(at now: Instant) -> [String] {
    newestUnusable.filter { now - $0.at < Self.memory }.map(\.text)
  }
}
