package import LiveEvents

/// The sources that report their state over connections to this gateway. The node that owns a
/// source's room cannot see these connections.
package struct SourceConnections: Sendable {
  private struct Key: Hashable {
    let source: Text
    let room: RoomName
  }

  private struct Known: Sendable {
    var connections = 0
    var health: SourceHealth?
  }

  private var known: [Key: Known] = [:]

  package init() {}

  package mutating func connect(_ source: Text, in room: RoomName) {
    known[Key(source: source, room: room), default: Known()].connections += 1
  }

  package mutating func record(_ events: [LiveEvent], in room: RoomName) {
    if known.isEmpty { return }
    for event in events {
      guard case .source(.state(let health)) = event.payload else { continue }
      known[Key(source: health.source, room: room)]?.health = health.owned()
    }
  }

  /// Records that a connection has ended over which a source had reported its state. Returns the
  /// state to report for the source, unless it has another connection or has reported its own end.
  package mutating func disconnect(_ source: Text, in room: RoomName) -> SourceHealth? {
    let key = Key(source: source, room: room)
    known[key]?.connections -= 1
    guard let last = known[key], last.connections <= 0 else { return nil }
    known[key] = nil
    guard let health = last.health, !health.isOver else { return nil }
    return health.ended(because: "its connection ended")
  }
}
