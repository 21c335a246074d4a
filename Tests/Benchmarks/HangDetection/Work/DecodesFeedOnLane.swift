import Composable
import HangSimulation
import ViewGraph

/// A subscription decodes each delivery on the lane before sending it.
enum DecodesFeedOnLane {
  @Reducer struct Feed {
    @ObservableState struct State: Equatable, Sendable { var count: Int = 0 }
    enum Action: Sendable {
      case opened
      case decoded(Int)
    }
    let version: PlantedFault.Version
    let dependencies: Dependencies

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .opened:
        return .run(name: "Feed.decode", onLane: version == .faulty) {
          [clock = dependencies.clock] send in
          while !Task.isCancelled {
            try await clock.sleep(for: .milliseconds(500))
            send(.decoded(decode(Self.delivery)))
          }
        }
      case .decoded(let count):
        state.count += count
        return .none
      }
    }

    private static let delivery = (0..<30_000).map { "\($0 * 7_919 % 10_000)" }.joined(
      separator: " ")
  }

  /// The number of distinct numbers.
  static func decode(_ text: String) -> Int {
    Set(text.split(separator: " ").compactMap { Int($0) }).count
  }

  struct FeedView: View {
    static let name = "FeedView"
    func body(_ state: Observed<Feed.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.count) new")
    }
  }

  static let fault = PlantedFault(
    "decodes-feed-on-lane", .laneHeld, "Feed.decode",
    screen: { version in
      SimulatedScreen<Void>(
        FeedView(), state: { Feed.State() },
        reducer: { (world: SimulatedWorld) -> Feed in
          Feed(version: version, dependencies: world.dependencies)
        }, on: { _ in [.opened] })
    },
    events: [.at(.seconds(1), event: ())])
}
