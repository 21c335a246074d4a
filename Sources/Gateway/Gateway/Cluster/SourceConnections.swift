package import LiveEvents

/// The sources that report their state over connections to this gateway. The node that owns a
/// source's room cannot see these connections.
package struct SourceConnections: Sendable {
  private struct Key: Hashable {
    let source: Text
    let room: RoomName
  }

  private struct ConnectedSource: Sendable {
    var connections = 0
    var health: SourceHealth?
  }

  private var sources: [Key: ConnectedSource] = [:]

  package init() {}

  package mutating func connect(_ source: Text, in room: RoomName) {
    sources[Key(source: source, room: room), default: ConnectedSource()].connections += 1
  }

  package mutating func record(_ events: [LiveEvent], in room: RoomName) {
    if sources.isEmpty { return }
    for event in events {
      guard case .source(.state(let health)) = event.payload else { continue }
      sources[Key(source: health.source, room: room)]?.health = health.owned()
    }
  }

  /// Records that a connection has ended over which a source had reported its state. Returns the
  /// state to report for the source, unless it has another connection or has reported its own end.
  package mutating func disconnect(_ source: Text, in room: RoomName) -> SourceHealth? {
    let key = Key(source: source, room: room)
    sources[key]?.connections -= 1
    guard let last = sources[key], last.connections <= 0 else { return nil }
    sources[key] = nil
    guard let health = last.health, !health.isOver else { return nil }
    return health.ended(because: "its connection ended")
  }
}
