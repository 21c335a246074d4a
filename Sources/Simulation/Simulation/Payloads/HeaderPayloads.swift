import HangSimulation
import LiveEvents
import YAMLReader

extension GeneratedType {
  static let header = [
    // A reaction of one to five people.
    GeneratedType("reaction", keys: ["kinds"]) { section throws(ConfigurationError) in
      PayloadPattern(
        names: try section.words("kinds", default: ["heart", "laugh", "fire", "clap"]),
        .event { state, _ in
          .header(
            .reaction(
              kind: state.random.pick(state.names), count: state.random.integer(in: 1...5)))
        })
    },
    GeneratedType("viewers", keys: ["goal"]) { section throws(ConfigurationError) in
      let goal = try section["goal"]?.integer(in: 0...Int.max) ?? 2_400
      return PayloadPattern(
        level: goal / 8, .event { state, _ in .header(.viewers(count: state.viewers(goal))) })
    },
    GeneratedType("title") { state, _ in .header(.title(Text("Part \(state.occasions)"))) },
    GeneratedType("category") { state, _ in .header(.category(Text("Game \(state.occasions)"))) },
  ]
}

extension PayloadMaker.State {
  /// Returns the next value of a random walk towards a goal.
  fileprivate mutating func viewers(_ goal: Int) -> Int {
    let spread = max(goal / 40, 1)
    level = max(0, level + (goal - level) / 20 + random.integer(in: -spread...spread))
    return level
  }
}
