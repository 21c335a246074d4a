import Composable
import HangSimulation
import ViewGraph

/// Rows are identified by their position. A new row at the top changes the identifiers of all other
/// rows.
enum RowsIdentifiedByPosition {
  @Reducer struct Feed {
    @ObservableState struct State: Equatable, Sendable { var lines: [String] = [] }
    enum Action: Sendable { case received(String) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .received(let line) = action { state.lines = [line] + state.lines.prefix(49) }
      return .none
    }
  }

  struct FeedView: View {
    static let name = "FeedView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Feed.State>, _ context: ViewContext) -> ViewNode {
      .list(
        state.lines.enumerated().map { position, line in
          ViewNode.ListRow(id: version == .faulty ? "\(position)" : line, .text(line))
        })
    }
  }

  static let fault = PlantedFault(
    "rows-identified-by-position", .identityChurn, "FeedView",
    screen: { version in
      SimulatedScreen<String>(
        FeedView(version: version), state: { Feed.State() }, reducer: { _ in Feed() },
        on: { [.received($0)] })
    },
    events: [.poisson(every: .milliseconds(120)) { "message \($0.integer(in: 0...1_000_000))" }])
}
