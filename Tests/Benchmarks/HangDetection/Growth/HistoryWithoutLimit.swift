import Composable
import HangSimulation
import ViewGraph

/// An editor keeps a copy of the document for each step, to undo any number of steps.
enum HistoryWithoutLimit {
  @Reducer struct Drawing {
    @ObservableState struct State: Equatable, Sendable {
      var points: [Int] = Array(repeating: 0, count: 50)
      @ObservationStateIgnored var history: [[Int]] = []
    }
    enum Action: Sendable { case moved(Int) }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .moved(let point) = action else { return .none }
      state.history.append(state.points)
      if version == .sound, state.history.count > 100 { state.history.removeFirst() }
      state.points[point] += 1
      return .none
    }
  }

  struct DrawingView: View {
    static let name = "DrawingView"
    func body(_ state: Observed<Drawing.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.points.prefix(20))")
    }
  }

  static let fault = PlantedFault(
    "history-without-limit", .unboundedGrowth, "history",
    screen: { version in
      SimulatedScreen<Int>(
        DrawingView(), state: { Drawing.State() }, reducer: { _ in Drawing(version: version) },
        on: { [.moved($0)] })
    },
    events: [.poisson(every: .milliseconds(30)) { $0.integer(in: 0...19) }])
}
