package import Composable
package import LiveEvents
import Locking
import SystemSupport

/// The current activity of a lane. The lane sets it once per batch, view or effect, and the hang
/// monitor reads it.
package final class LaneActivity: Sendable {
  package enum Work: Hashable, Sendable {
    /// An action is being reduced, or its changes are being passed to observers.
    case action(String)
    /// A view is being evaluated.
    case view(String)
    /// An effect is running on the lane.
    case effect(String)
    /// A room is being read for a client.
    case report
  }

  /// An activity, with its room if that is known.
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
    /// The hang monitor reads the current action from the trace, so that the lane pays nothing per
    /// action.
    case reducing(RoomName, ActionTrace)
    case other(Label)
  }

  private let state = Guarded(State.nothing)

  package init() {}

  /// Sets the activity to reducing the actions of a room.
  package func beginReducing(_ trace: ActionTrace, in room: RoomName) {
    state.withLock { $0 = .reducing(room, trace) }
  }

  package func begin(_ work: Work, in room: RoomName?) {
    state.withLock { $0 = .other(Label(room: room, work: work)) }
  }

  package func clear() { state.withLock { $0 = .nothing } }

  /// The current activity; `nil` if it is unknown.
  package var present: Label? {
    switch state.withLock({ $0 }) {
    case .nothing: nil
    case .reducing(let room, let trace):
      Label(room: room, work: .action(trace.name))
    case .other(let label): label
    }
  }
}
