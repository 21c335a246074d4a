import HangSimulation
import YAMLReader

/// A service outside the screen. Effects of the screen wait for its answers.
package enum EffectKind: String, Hashable, Sendable, CaseIterable {
  /// The controller that carries out the requests of the control panel, such as the streaming
  /// program.
  case controller = "surface"
  /// The analysis that searches the chat for bursts of duplicates and for highlights, once for each
  /// batch of messages.
  case analysis
  /// The room's own recorder. The simulated host requests a recording at the start of the run.
  case recorder
}

/// The behaviour of a service, as a scenario defines it.
struct HostEffect: Hashable, Sendable {
  var model = EffectModel()
  /// How long the screen waits for an answer from the controller.
  var timeout = VirtualTime.seconds(5)
}

extension HostEffect {
  private static let keys = ["latency", "spread", "cost", "failures", "silence", "timeout"]

  static func read(_ cell: YAMLNode?) throws(ConfigurationError) -> [EffectKind: HostEffect] {
    var models: [EffectKind: HostEffect] = [:]
    guard let cell else { return models }
    let kinds = EffectKind.allCases
    let all = try YAMLMapping(
      cell, known: kinds.map(\.rawValue), example: "'surface: {latency: 80ms}'")
    for kind in kinds {
      guard let node = all[kind.rawValue] else { continue }
      let section = try YAMLMapping(node, known: keys, example: "'{latency: 80ms}'")
      var effect = HostEffect()
      func set(
        _ path: WritableKeyPath<HostEffect, VirtualTime>, _ key: String
      ) throws(ConfigurationError) {
        if let value = section[key] { effect[keyPath: path] = try value.duration() }
      }
      try set(\.model.latency, "latency")
      try set(\.model.spread, "spread")
      try set(\.model.cost, "cost")
      if let value = section["failures"] { effect.model.failures = try value.share() }
      if let value = section["silence"] { effect.model.silence = try value.share() }
      if let value = section["timeout"] { effect.timeout = try value.duration(positive: true) }
      guard effect.model.failures + effect.model.silence <= 1_000 else {
        throw section.problem(at: "silence", "must not exceed 100% together with failures")
      }
      models[kind] = effect
    }
    return models
  }
}
