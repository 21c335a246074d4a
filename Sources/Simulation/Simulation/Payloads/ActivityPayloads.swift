import HangSimulation
import LiveEvents

extension GeneratedType {
  static let activity = [
    GeneratedType("follow") { state, _ in .activity(.follow(user: state.person(), id: nil)) },
    GeneratedType("redemption") { state, _ in
      let cost = 100 * state.random.integer(in: 1...20)
      return .activity(
        .redemption(
          Redemption(user: state.person(), title: Text("reward of \(cost)"), cost: cost)))
    },
  ]
}
