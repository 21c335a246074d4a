import NIOCore

/// When a room is due on its lane, and when a client last used it.
struct RoomTurn {
  /// The millisecond, on the machine's clock, at which the room is entered in the lane's
  /// ``DueTimes``.
  private var slot: Int64?
  /// When a client last read the room or sent an event to it.
  private(set) var lastUse: NIODeadline

  init(now: NIODeadline) { lastUse = now }

  /// Makes the room due at a time; returns `false` if the room is due earlier anyway.
  mutating func schedule(at slot: Int64) -> Bool {
    if let earlier = self.slot, earlier <= slot { return false }
    self.slot = slot
    return true
  }

  /// Begins the turn of a millisecond; returns `false` if the entry is outdated, because the room
  /// was due earlier or was closed.
  mutating func begin(at slot: Int64) -> Bool {
    guard self.slot == slot else { return false }
    self.slot = nil
    return true
  }

  mutating func cancel() { slot = nil }

  mutating func use(at now: NIODeadline) { lastUse = now }

  /// Makes a restored room idle, because no client has used it since the daemon started.
  mutating func makeIdle(after duration: Duration, now: NIODeadline) {
    lastUse = now - TimeAmount(duration)
  }

  func isIdle(after duration: Duration, now: NIODeadline) -> Bool {
    now >= lastUse + TimeAmount(duration)
  }
}
