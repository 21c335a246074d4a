import HangSimulation
import LiveEvents

extension GeneratedType {
  static let recorder = [
    GeneratedType("recorder.state") { state, _ in
      .recorder(.state(state.occasions % 2 == 1 ? .recording : .paused))
    },
    GeneratedType("recorder.progress") { state, _ in
      state.level += state.random.integer(in: 330_000...410_000)
      return .recorder(
        .progress(
          RecorderProgress(bytes: state.level, durationMilliseconds: state.occasions * 500)))
    },
  ]
}
