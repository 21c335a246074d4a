import Composable
import HangSimulation
import ViewGraph

/// A player reads its position, which changes constantly, only to show whether it plays.
enum ReadsMoreThanItShows {
  @Reducer struct Player {
    @ObservableState struct State: Equatable, Sendable {
      var position: Double = 0
      var isPlaying: Bool = false
      var chapters: [String] = (1...60).map { "Chapter \($0)" }
    }
    enum Action: Sendable { case advanced(Double) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .advanced(let position) = action {
        state.position = position
        state.isPlaying = position > 0
      }
      return .none
    }
  }

  struct PlayerView: View {
    static let name = "PlayerView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Player.State>, _ context: ViewContext) -> ViewNode {
      let isPlaying = version == .faulty ? state.position > 0 : state.isPlaying
      return .column([
        .badge(isPlaying ? "playing" : "ready", .strong),
        .list(state.chapters.map { ViewNode.ListRow(id: $0, .text($0)) }),
      ])
    }
  }

  static let fault = PlantedFault(
    "reads-more-than-it-shows", .overObservation, "PlayerView", field: "position",
    screen: { version in
      SimulatedScreen<Double>(
        PlayerView(version: version), state: { Player.State() }, reducer: { _ in Player() },
        on: { [.advanced($0)] })
    },
    events: [.every(.milliseconds(40)) { Double($0.integer(in: 1...1_000_000)) }])
}
