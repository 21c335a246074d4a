/// Distinguishes drags in progress from those whose end was lost, by the seconds since their last
/// move.
package struct DragBookkeeping: Equatable, Sendable, Codable {
  /// How many ticks a drag may pause. Its end may be delayed for as long.
  package static let patience = 10

  /// Ticks since each drag last moved.
  private var idle = ControlTable<Int>()
  /// Sliders whose drag was committed without a release, which may still arrive.
  private var overdue = ControlTable<Bool>()

  package init() {}

  mutating func noteMove(of control: String) {
    if idle[control] != 0 { idle[control] = 0 }
    if overdue[control] != nil { overdue[control] = nil }
  }

  /// Notes the release of a slider. Returns whether a time-out had committed the drag before.
  mutating func noteRelease(of control: String) -> Bool {
    idle[control] = nil
    guard overdue[control] != nil else { return false }
    overdue[control] = nil
    return true
  }

  /// Notes that a second has passed for a drag. Returns whether it has paused for too long; it is
  /// then forgotten.
  mutating func noteTick(of control: String) -> Bool {
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
