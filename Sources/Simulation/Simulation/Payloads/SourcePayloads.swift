import HangSimulation
import LiveEvents

extension GeneratedType {
  static let source = [
    GeneratedType("source.state") { state, _ in
      .source(
        .state(
          SourceHealth(
            source: Text("source \(state.source)"), state: .live, platform: "twitch",
            duplicate: state.random.integer(in: 0...9))))
    },
    GeneratedType("gap") { state, _ in
      let from = Timestamp(state.random.integer(in: 0...60_000))
      return .source(
        .gap(
          MissedTime(
            source: Text("source \(state.source)"), from: from,
            to: from + Timestamp(state.random.integer(in: 100...20_000)),
            reason: "connection lost")))
    },
  ]
}
