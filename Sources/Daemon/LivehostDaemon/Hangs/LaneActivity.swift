package import Composable
package import LiveEvents
import Platform

/// What a lane is doing: written by the lane once per batch, view or effect, read by the hang
/// monitor.
package final class LaneActivity: Sendable {
  package enum Work: Hashable, Sendable {
    /// An action is being reduced, or its changes are being delivered.
    case action(String)
    /// A view is being evaluated.
    case view(String)
    /// An effect is running on the lane.
    case effect(String)
    /// A room is being read for a client.
    case report
  }

  /// Some work, and its room if that is known.
  package struct Label: Hashable, Sendable {
    package let room: RoomName?
    package let work: Work

    package init(room: RoomName?, work: Work) {
      self.room = room
      self.work = work
    }
  }

  private enum State: Sendable {
    case nothing
    /// The action is looked up on demand, so that it costs nothing per action.
    case reducing(RoomName, ActionTrace)
    case other(Label)
  }

  private let state = Guarded(State.nothing)

  package init() {}

  /// The lane reduces actions of a room.
  package func beginReducing(_ trace: ActionTrace, in room: RoomName) {
    state.withLock { $0 = .reducing(room, trace) }
  }

  package func begin(_ work: Work, in room: RoomName?) {
    state.withLock { $0 = .other(Label(room: room, work: work)) }
  }

  package func clear() { state.withLock { $0 = .nothing } }

  /// What the lane is doing; `nil` if unknown.
  package var present: Label? {
    switch state.withLock({ $0 }) {
    case .nothing: nil
    case .reducing(let room, let trace):
      Label(room: room, work: .action(trace.name))
    case .other(let label): label
    }
  }
}
