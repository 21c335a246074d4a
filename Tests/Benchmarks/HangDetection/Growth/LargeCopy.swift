import Composable
import HangSimulation
import ViewGraph

/// A reducer keeps a reference to the old samples while it changes one sample, so the change copies
/// all samples.
enum LargeCopy {
  @Reducer struct Scope {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var samples: [Double] = Array(repeating: 0, count: 600_000)
      var jump: Double = 0
    }
    enum Action: Sendable { case sampled(index: Int, value: Double) }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .sampled(let index, let value) = action else { return .none }
      switch version {
      case .faulty:
        let before = state.samples
        state.samples[index] = value
        state.jump = value - before[index]
      case .sound:
        let before = state.samples[index]
        state.samples[index] = value
        state.jump = value - before
      }
      return .none
    }
  }

  struct ScopeView: View {
    static let name = "ScopeView"
    func body(_ state: Observed<Scope.State>, _ context: ViewContext) -> ViewNode {
      .text("\(Int(state.jump))")
    }
  }

  static let fault = PlantedFault(
    "large-copy", .largeCopies, "sampled", field: "samples",
    screen: { version in
      SimulatedScreen<Int>(
        ScopeView(), state: { Scope.State() }, reducer: { _ in Scope(version: version) },
        on: { [.sampled(index: $0, value: Double($0 % 1_000))] })
    },
    events: [.poisson(every: .milliseconds(17)) { $0.integer(in: 0...599_999) }])
}
