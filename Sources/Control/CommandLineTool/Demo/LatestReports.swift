import ControlInterface
import Synchronization

/// The newest report of each room, from those who watch to the one who draws.
final class LatestReports: Sendable {
  private struct State {
    var reports: [RoomReport?]
    var failure: (any Error)?
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(reports: Array(repeating: nil, count: count)))
  }

  var all: [RoomReport?] { state.withLock(\.reports) }
  /// Why a room can no longer be watched.
  var failure: (any Error)? { state.withLock(\.failure) }

  func set(_ result: Result<RoomReport, any Error>, at index: Int) {
    state.withLock { state in
      switch result {
      case .success(let report): state.reports[index] = report
      case .failure(let error): state.failure = state.failure ?? error
      }
    }
  }
}
