import Analysis
import ChatFeature
import Composable
import ControlFeature
import HangSimulation
import HostFeature
import LiveEvents
import RecorderFeature

/// What the effects of a simulated host find outside the screen: what the scenario says is there.
struct HostEffects {
  let dependencies: Dependencies
  /// Whether the running chat is searched.
  let analysesChat: Bool
  /// What tells the screen at its beginning who is there, and what is wanted.
  let firstInputs: [EffectInput]

  init(_ models: [EffectKind: HostEffect], _ world: SimulatedWorld) {
    var dependencies = world.dependencies
    var firstInputs: [EffectInput] = []
    for kind in EffectKind.allCases {
      guard let model = models[kind] else { continue }
      let effect = world.effect(kind.rawValue, model.model)
      switch kind {
      case .surface:
        dependencies[ControlSurface.self] = ControlSurface(
          patience: { .nanoseconds(model.timeout.nanoseconds) }
        ) { _ in
          try await effect.perform()
            ? .confirmed : .refused(reason: "refused, as the scenario has it")
        }
        firstInputs.append(.event(.control(.surface(.began(surface: 1, controls: nil)))))
      case .analysis:
        let finders = KeptFinders()
        dependencies[ChatAnalysis.self] = ChatAnalysis { search in
          // What it costs is what the scenario says.
          try await effect.succeed { try await finders.find(search, sliceNanoseconds: .max) }
        }
      case .recorder:
        dependencies[Recorder.self] = Recorder(
          start: { number in try await effect.succeed { "recording-\(number)" } },
          stop: { _ in try await effect.succeed { nil } },
          pause: { _ in try await effect.succeed() }, resume: { _ in try await effect.succeed() })
        firstInputs.append(.recorder(.wished(wish: .start, retries: true)))
      }
    }
    self.dependencies = dependencies
    self.firstInputs = firstInputs
    analysesChat = models[.analysis] != nil
  }
}
