import ControlInterface
import HostScreen
import LiveEvents
import NIOCore

/// The hibernated rooms of a lane.
///
/// All rooms are stored in one table, and their states in common chunks, because separate
/// allocations could each keep a page of memory in use.
struct HibernatedRooms {
  private var numbers: [RoomName: Int] = [:]
  private var rooms = NumberedTable<HibernatedRoom>()
  private var states = HibernatedStates()
  private(set) var counts = EventCounts()

  var count: Int { numbers.count }
  func contains(_ name: RoomName) -> Bool { numbers[name] != nil }
  var summaries: [RoomSummary] { rooms.all.map(\.summary) }
  var metrics: [RoomMetrics] { rooms.all.map(\.metrics) }
  var sources: [RoomName: [SourceReport]] { numbers.mapValues { rooms[$0]?.sources ?? [] } }

  /// Hibernates a room; returns `false` if its state cannot be encoded.
  mutating func add(_ room: Room, now: NIODeadline) -> Bool {
    guard let idle = room.hibernate(into: &states, now: now) else { return false }
    numbers[room.name] = rooms.add(idle)
    counts.add(idle.counts)
    return true
  }

  /// Removes a room. Returns the room's entry and state; `nil` if no room with this name
  /// hibernates.
  mutating func remove(_ name: RoomName) -> (HibernatedRoom, RoomSnapshot)? {
    guard let idle = numbers[name].flatMap({ rooms[$0] }) else { return nil }
    let snapshot = idle.snapshot(in: states)
    drop(name)
    return (idle, snapshot)
  }

  /// Removes a room. Returns the room's counts; `nil` if no room with this name hibernates.
  @discardableResult
  mutating func drop(_ name: RoomName) -> EventCounts? {
    guard let number = numbers.removeValue(forKey: name), let idle = rooms[number] else {
      return nil
    }
    rooms.remove(number)
    states.remove(idle.state)
    counts.subtract(idle.counts)
    return idle.counts
  }

  /// Returns a snapshot of a room to save; `nil` if no such room hibernates.
  mutating func saving(
    _ name: RoomName
  ) -> (snapshot: RoomSnapshot, number: UInt64, lifetime: RoomLifetime)? {
    guard let room = numbers[name], let idle = rooms[room] else { return nil }
    let lifetime = RoomLifetime(name, on: nil, idle.life)
    let number = lifetime.nextSnapshot()
    rooms[room]?.life = lifetime.rest
    return (idle.snapshot(in: states), number, lifetime)
  }
}
