import ControlInterface
import HostScreen
import LiveEvents
import NIOCore

/// The rooms of a lane that are packed.
///
/// Nothing that they leave behind is an object of its own, which would hold a page of memory: what is left of a room
/// is in this table, and its state among those of the others.
struct PackedRooms {
  private var rooms: [RoomName: PackedRoom] = [:]
  private var states = PackedBytes()
  /// Sums over them.
  private(set) var counts = EventCounts()

  var count: Int { rooms.count }
  var summaries: [RoomSummary] { rooms.values.map(\.summary) }
  var metrics: [RoomMetrics] { rooms.values.map(\.metrics) }
  var sources: [RoomName: [SourceReport]] { rooms.mapValues(\.sources) }

  /// Packs a room. `false` if its state cannot be written down.
  mutating func add(_ room: Room, now: NIODeadline) -> Bool {
    guard let idle = room.pack(into: &states, now: now) else { return false }
    rooms[room.name] = idle
    counts.add(idle.counts)
    return true
  }

  /// Removes a room, and returns what is left of it and the room as it was; `nil` if there is none.
  mutating func take(_ name: RoomName) -> (PackedRoom, RoomSnapshot)? {
    guard let idle = rooms[name] else { return nil }
    let snapshot = idle.snapshot(in: states)
    drop(name)
    return (idle, snapshot)
  }

  /// Removes a room. Returns its counts; `nil` if there is none.
  @discardableResult
  mutating func drop(_ name: RoomName) -> EventCounts? {
    guard let idle = rooms.removeValue(forKey: name) else { return nil }
    states.remove(idle.state)
    counts.subtract(idle.counts)
    return idle.counts
  }

  /// A room as it is to be saved; `nil` if there is none.
  mutating func saving(
    _ name: RoomName
  ) -> (snapshot: RoomSnapshot, number: UInt64, lifetime: RoomLifetime)? {
    guard let idle = rooms[name] else { return nil }
    let lifetime = RoomLifetime(name.description, idle.life)
    let number = lifetime.nextSnapshot()
    rooms[name]?.life = lifetime.rest
    return (idle.snapshot(in: states), number, lifetime)
  }
}
