import Composable
import HangSimulation
import ViewGraph

/// The initialiser of a view computes a table of colours, and the parent creates the view in each
/// evaluation.
enum WorkInViewInitialiser {
  @Reducer struct Dashboard {
    @ObservableState struct State: Equatable, Sendable {
      var temperature: Int = 20
      @ObservationStateIgnored var chart: Chart.State = Chart.State()
    }
    enum Action: Sendable { case measured(Int) }
    var body: some ReducerOf<Self> {
      Reduce { state, action in
        if case .measured(let value) = action { state.temperature = value }
        return .none
      }
    }
  }

  @Reducer struct Chart {
    @ObservableState struct State: Equatable, Sendable { var samples: [Float] = [0, 1, 2] }
    enum Action: Sendable { case tapped }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  struct DashboardView: View {
    static let name = "DashboardView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Dashboard.State>, _ context: ViewContext) -> ViewNode {
      let chart = version == .faulty ? ChartView(colours: ChartView.colours()) : ChartView.shared
      return .column([
        .text("\(state.temperature) degrees"), context.child(chart, state, \.chart),
      ])
    }
  }

  struct ChartView: View {
    static let name = "ChartView"
    let colours: [String]
    func body(_ state: Observed<Chart.State>, _ context: ViewContext) -> ViewNode {
      .column([.sparkline(state.samples), .text(colours[0])])
    }

    static let shared = ChartView(colours: colours())

    static func colours() -> [String] {
      (0..<4_000).map { step in
        let (red, green) = (step * 255 / 4_000, 255 - step * 255 / 4_000)
        return "#" + String(red, radix: 16) + String(green, radix: 16) + "00"
      }
    }
  }

  static let fault = PlantedFault(
    "work-in-view-initialiser", .heavyWork, "DashboardView",
    screen: { version in
      SimulatedScreen<Int>(
        DashboardView(version: version), state: { Dashboard.State() },
        reducer: { _ in Dashboard() }, on: { [.measured($0)] })
    },
    events: [.poisson(every: .milliseconds(50)) { $0.integer(in: -20...40) }])
}
