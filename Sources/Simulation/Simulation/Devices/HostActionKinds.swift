import ChatFeature
import Composable
import HangSimulation
import HostFeature
import WaitingRoomFeature

extension ActionKinds {
  static let host = ActionKinds(
    Store(initialState: HostFeature.State(), lane: SerialLane()) { HostFeature() }.actionTrace)
}

extension HostFeature.Action {
  var elementCount: Int {
    switch self {
    case .chat(.messages(let batch)): batch.count
    case .waitingRoom(.changed(let changes)): changes.count
    default: 0
    }
  }
}
