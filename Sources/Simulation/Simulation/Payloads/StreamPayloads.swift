import HangSimulation
import LiveEvents

extension GeneratedType {
  static let stream = [
    GeneratedType("stream") { state, _ in
      .stream(state.occasions % 2 == 1 ? .live : .paused)
    }
  ]
}
