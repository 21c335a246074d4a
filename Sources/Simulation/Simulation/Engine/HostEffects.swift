import Analysis
import ChatFeature
import Composable
import ControlFeature
import HangSimulation
import HostFeature
import LiveEvents
import RecorderFeature

/// The simulated services on which a host's effects depend. The scenario defines their behaviour.
struct HostEffects {
  let dependencies: Dependencies
  let analysesChat: Bool
  /// The inputs at the start of the run, which announce a controller and request a recording.
  let firstInputs: [EffectInput]

  init(_ models: [EffectKind: HostEffect], _ world: SimulatedWorld) {
    var dependencies = world.dependencies
    var firstInputs: [EffectInput] = []
    for kind in EffectKind.allCases {
      guard let model = models[kind] else { continue }
      let effect = world.effect(kind.rawValue, model.model)
      switch kind {
      case .controller:
        dependencies[Controller.self] = Controller(
          patience: { .nanoseconds(model.timeout.nanoseconds) }
        ) { _ in
          try await effect.perform()
            ? .confirmed : .refused(reason: "refused as configured in the scenario")
        }
        firstInputs.append(.event(.control(.controller(.began(controller: 1, controls: nil)))))
      case .analysis:
        let finders = KeptFinders()
        dependencies[ChatAnalysis.self] = ChatAnalysis { search in
          // The search is not divided into slices, because the scenario defines how long it takes.
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
