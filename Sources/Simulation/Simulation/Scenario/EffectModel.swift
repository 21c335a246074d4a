import YAMLReader

/// Something outside the screen that its effects wait for.
package enum EffectKind: String, Hashable, Sendable, CaseIterable {
  /// Whoever carries out what the control panel asks for, such as the program that streams.
  case surface
  /// The search of the running chat for waves and highlights, once for each batch of messages.
  case analysis
  /// The room's own recorder, which is wanted to record from the beginning.
  case recorder
}

/// How long something takes that effects wait for, and how often it fails.
struct EffectModel: Hashable, Sendable {
  /// From the end of the work to the answer, ...
  var latency = VirtualTime.zero
  /// ... and how much longer at most. Each answer takes a share of its own of this.
  var spread = VirtualTime.zero
  /// Processor time of the work, on the reference device.
  var cost = VirtualTime.zero
  /// How many in a thousand are refused.
  var failures: Int64 = 0
  /// How many in a thousand are never answered.
  var silence: Int64 = 0
  /// How long the screen waits for an answer of the surface.
  var timeout = VirtualTime.seconds(5)
}

extension EffectModel {
  private static let keys = ["latency", "spread", "cost", "failures", "silence", "timeout"]

  static func read(_ cell: YAMLNode?) throws(ConfigurationError) -> [EffectKind: EffectModel] {
    var models: [EffectKind: EffectModel] = [:]
    guard let cell else { return models }
    let kinds = EffectKind.allCases
    let all = try YAMLMapping(
      cell, known: kinds.map(\.rawValue), example: "'surface: {latency: 80ms}'")
    for kind in kinds {
      guard let node = all[kind.rawValue] else { continue }
      let section = try YAMLMapping(node, known: keys, example: "'{latency: 80ms}'")
      var model = EffectModel()
      func set(
        _ path: WritableKeyPath<EffectModel, VirtualTime>, _ key: String
      ) throws(ConfigurationError) {
        if let value = section[key] { model[keyPath: path] = try value.duration() }
      }
      try set(\.latency, "latency")
      try set(\.spread, "spread")
      try set(\.cost, "cost")
      if let value = section["failures"] { model.failures = try value.share() }
      if let value = section["silence"] { model.silence = try value.share() }
      if let value = section["timeout"] { model.timeout = try value.duration(positive: true) }
      guard model.failures + model.silence <= 1_000 else {
        throw section.problem(at: "silence", "is more than 100% together with failures")
      }
      models[kind] = model
    }
    return models
  }
}
