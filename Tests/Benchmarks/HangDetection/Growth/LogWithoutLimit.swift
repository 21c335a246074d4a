import Composable
import HangSimulation
import ViewGraph

/// A log keeps all its lines, although the screen shows only the last twenty.
enum LogWithoutLimit {
  @Reducer struct Console {
    @ObservableState struct State: Equatable, Sendable { var lines: [String] = [] }
    enum Action: Sendable { case logged(String) }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .logged(let line) = action else { return .none }
      state.lines.append(line)
      if version == .sound, state.lines.count > 400 { state.lines.removeFirst(200) }
      return .none
    }
  }

  struct ConsoleView: View {
    static let name = "ConsoleView"
    func body(_ state: Observed<Console.State>, _ context: ViewContext) -> ViewNode {
      .list(state.lines.suffix(20).map { ViewNode.ListRow(id: $0, .text($0)) })
    }
  }

  static let fault = PlantedFault(
    "log-without-limit", .unboundedGrowth, "lines",
    screen: { version in
      SimulatedScreen<String>(
        ConsoleView(), state: { Console.State() }, reducer: { _ in Console(version: version) },
        on: { [.logged($0)] })
    },
    events: [.poisson(every: .milliseconds(10)) { "line \($0.integer(in: 0...1_000_000_000))" }])
}
