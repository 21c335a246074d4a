import Composable
import HangSimulation
import ViewGraph

/// A download reports each chunk, a thousand times a second, although its bar shows only whole
/// percents.
enum ProgressPerChunk {
  static let chunks = 15_000

  @Reducer struct Download {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var received: Int = 0
      var percent: Int = 0
    }
    enum Action: Sendable {
      case started
      case progressed(Int)
    }
    let version: PlantedFault.Version
    let dependencies: Dependencies

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .started:
        let step = version == .faulty ? 1 : 150
        return .run(name: "Download.receive") { [clock = dependencies.clock] send in
          for chunk in 1...chunks {
            try await clock.sleep(for: .milliseconds(1))
            if chunk % step == 0 { send(.progressed(chunk)) }
          }
        }
      case .progressed(let received):
        state.received = received
        state.percent = received * 100 / chunks
        return .none
      }
    }
  }

  struct DownloadView: View {
    static let name = "DownloadView"
    func body(_ state: Observed<Download.State>, _ context: ViewContext) -> ViewNode {
      .gauge(label: "download", value: Double(state.percent) / 100, text: "\(state.percent) %")
    }
  }

  static let fault = PlantedFault(
    "progress-per-chunk", .chattyActions, "progressed",
    screen: { version in
      SimulatedScreen<Void>(
        DownloadView(), state: { Download.State() },
        reducer: { (world: SimulatedWorld) -> Download in
          Download(version: version, dependencies: world.dependencies)
        }, on: { _ in [.started] })
    },
    events: [.at(.seconds(1), event: ())])
}
