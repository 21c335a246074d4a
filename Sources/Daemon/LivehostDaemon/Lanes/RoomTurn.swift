import NIOCore

/// When a room has its turn on its lane.
struct RoomTurn {
  /// The millisecond of the machine's time for which the lane's list has the room.
  private var slot: Int64?
  /// When a client last used the room, or sent something to it.
  private(set) var lastUse: NIODeadline

  init(now: NIODeadline) { lastUse = now }

  /// Moves the turn forward. `false` if the room has its turn by then anyway.
  mutating func schedule(at slot: Int64) -> Bool {
    if let earlier = self.slot, earlier <= slot { return false }
    self.slot = slot
    return true
  }

  /// Begins the turn of a millisecond. `false` if the room had its turn earlier, or is gone.
  mutating func begin(at slot: Int64) -> Bool {
    guard self.slot == slot else { return false }
    self.slot = nil
    return true
  }

  mutating func cancel() { slot = nil }

  mutating func use(at now: NIODeadline) { lastUse = now }

  /// Makes the room idle, because no client has used it since the start.
  mutating func makeIdle(after duration: Duration, now: NIODeadline) {
    lastUse = now - TimeAmount(duration)
  }

  func isIdle(after duration: Duration, now: NIODeadline) -> Bool {
    now >= lastUse + TimeAmount(duration)
  }
}
