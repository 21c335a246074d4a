package import LiveEvents

/// Distinguishes active drags from drags whose end was lost, by the seconds since their last move.
package struct DragBookkeeping: Equatable, Sendable, Codable {
  /// The number of ticks for which a drag may pause, or its end may be delayed.
  package static let patience = 10

  /// The number of ticks since each drag last moved.
  private var idle = ControlTable<Int>()
  /// The sliders whose drag was committed without a release, which may still arrive.
  private var overdue = ControlTable<Bool>()

  package init() {}

  mutating func recordMove(of control: String) {
    if idle[control] != 0 { idle[control] = 0 }
    if overdue[control] != nil { overdue[control] = nil }
  }

  /// Records the release of a slider. Returns whether a time-out had already committed the drag.
  mutating func recordRelease(of control: String) -> Bool {
    idle[control] = nil
    guard overdue[control] != nil else { return false }
    overdue[control] = nil
    return true
  }

  /// Records that a second has passed for a drag. Returns true, and removes the drag, if it has
  /// paused for too long.
  mutating func recordTick(of control: String) -> Bool {
    let ticks = (idle[control] ?? 0) + 1
    guard ticks >= Self.patience else {
      idle[control] = ticks
      return false
    }
    idle[control] = nil
    overdue[control] = true
    return true
  }
}

extension DragBookkeeping: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try idle.checkBounds("idle", \.isCountable)
    try overdue.checkBounds("overdue")
  }
}
