import Composable
import HangSimulation
import RateLimiting
import ViewGraph

/// Each position of a slider is an action. Four positions arrive per frame, which shows only one of
/// them.
enum UnthrottledSlider {
  @Reducer struct Mixer {
    @ObservableState struct State: Equatable, Sendable { var level: Double = 0 }
    enum Action: Sendable { case moved(Double) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .moved(let level) = action { state.level = level }
      return .none
    }
  }

  struct MixerView: View {
    static let name = "MixerView"
    func body(_ state: Observed<Mixer.State>, _ context: ViewContext) -> ViewNode {
      .gauge(label: "level", value: state.level, text: "\(Int(state.level * 1_000)) ‰")
    }
  }

  /// Passes on the newest position once per frame.
  struct Newest: EventThrottle {
    private var level: Double?
    private(set) var deadline: Instant?
    private(set) var coalesced = 0
    var pending: Int { level == nil ? 0 : 1 }

    mutating func receive(
      _ event: Double, at now: Instant, into actions: inout [Mixer.Action]
    ) {
      if level != nil { coalesced += 1 }
      level = event
      deadline = deadline ?? now
    }

    mutating func wake(at now: Instant, into actions: inout [Mixer.Action]) {
      guard let level else { return }
      actions.append(.moved(level))
      self.level = nil
      deadline = nil
    }
  }

  static let fault = PlantedFault(
    "unthrottled-slider", .unthrottledInput, "moved",
    screen: { version in
      switch version {
      case .faulty:
        SimulatedScreen<Double>(
          MixerView(), state: { Mixer.State() }, reducer: { _ in Mixer() }, on: { [.moved($0)] })
      case .sound:
        SimulatedScreen<Double>(
          MixerView(), state: { Mixer.State() }, reducer: { _ in Mixer() }, throttle: { Newest() })
      }
    },
    events: [.every(.microseconds(4_100)) { Double($0.integer(in: 0...1_000)) / 1_000 }])
}
