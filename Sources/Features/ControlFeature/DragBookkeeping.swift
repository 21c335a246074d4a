/// Tells drags that go on from those whose end was lost, by the seconds since they last moved.
package struct DragBookkeeping: Equatable, Sendable, Codable {
  /// How many ticks a drag may stand still. Its end may be on the way for as long.
  package static let patience = 10

  /// Ticks since each drag last moved.
  private var idle = ControlTable<Int>()
  /// Sliders whose drag was committed without a release, which may still come.
  private var overdue = ControlTable<Bool>()

  package init() {}

  mutating func noteMove(of control: String) {
    if idle[control] != 0 { idle[control] = 0 }
    if overdue[control] != nil { overdue[control] = nil }
  }

  /// Returns whether time committed the drag before.
  mutating func noteRelease(of control: String) -> Bool {
    idle[control] = nil
    guard overdue[control] != nil else { return false }
    overdue[control] = nil
    return true
  }

  /// Returns whether the drag stood still for too long; it is then forgotten.
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
