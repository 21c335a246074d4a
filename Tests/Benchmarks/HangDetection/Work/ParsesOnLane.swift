import Composable
import HangSimulation
import ViewGraph

/// An import parses a file in an effect on the lane, which blocks all other work.
enum ParsesOnLane {
  @Reducer struct Import {
    @ObservableState struct State: Equatable, Sendable { var total: Int = 0 }
    enum Action: Sendable {
      case fileChosen
      case parsed(Int)
    }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .fileChosen:
        return .run(name: "Import.parse", onLane: version == .faulty) { send in
          send(.parsed(parse(Self.file)))
        }
      case .parsed(let total):
        state.total += total
        return .none
      }
    }

    private static let file = (0..<20_000).map { "article \($0),\($0 * 31 % 5_000)" }.joined(
      separator: "\n")
  }

  /// The sum of the prices of all lines.
  static func parse(_ text: String) -> Int {
    text.split(separator: "\n").reduce(0) { sum, line in
      sum + (line.split(separator: ",").last.flatMap { Int($0) } ?? 0)
    }
  }

  struct ImportView: View {
    static let name = "ImportView"
    func body(_ state: Observed<Import.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.total)")
    }
  }

  static let fault = PlantedFault(
    "parses-on-lane", .laneHeld, "Import.parse",
    screen: { version in
      SimulatedScreen<Void>(
        ImportView(), state: { Import.State() }, reducer: { _ in Import(version: version) },
        on: { _ in [.fileChosen] })
    },
    events: [.every(.seconds(3), from: .seconds(1)) { _ in }])
}
