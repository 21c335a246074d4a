import Composable
import HangSimulation
import ViewGraph

/// A stopwatch that shows tenths of a second ticks every millisecond.
enum TimerTooOften {
  @Reducer struct StopWatch {
    @ObservableState struct State: Equatable, Sendable { var tenths: Int = 0 }
    enum Action: Sendable {
      case started
      case ticked(milliseconds: Int)
    }
    let version: PlantedFault.Version
    let dependencies: Dependencies

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .started:
        let interval = version == .faulty ? 1 : 100
        return .timer(every: .milliseconds(interval), clock: dependencies.clock) { ticks in
          .ticked(milliseconds: ticks * interval)
        }
      case .ticked(let milliseconds):
        state.tenths = milliseconds / 100
        return .none
      }
    }
  }

  struct StopWatchView: View {
    static let name = "StopWatchView"
    func body(_ state: Observed<StopWatch.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.tenths / 10).\(state.tenths % 10) s", .strong)
    }
  }

  static let fault = PlantedFault(
    "timer-too-often", .chattyActions, "ticked",
    screen: { version in
      SimulatedScreen<Void>(
        StopWatchView(), state: { StopWatch.State() },
        reducer: { (world: SimulatedWorld) -> StopWatch in
          StopWatch(version: version, dependencies: world.dependencies)
        }, on: { _ in [.started] })
    },
    events: [.at(.seconds(1), event: ())])
}
