import ChatFeature
import Composable
import HangSimulation
import HostFeature
import WaitingRoomFeature

extension ActionKinds {
  /// The kinds of actions of the host's screen.
  static let host = ActionKinds(
    Store(initialState: HostFeature.State(), lane: SerialLane()) { HostFeature() }.actionTrace)
}

extension HostFeature.Action {
  /// The number of elements in the action's batch.
  var elementCount: Int {
    switch self {
    case .chat(.messages(let batch)): batch.count
    case .waitingRoom(.changed(let changes)): changes.count
    default: 0
    }
  }
}
