import Composable
import Foundation
import HangSimulation
import ViewGraph

/// A reducer decodes the server's answer on the thread that draws the screen.
enum DecodesInReducer {
  struct Record: Codable, Equatable, Sendable {
    var id: Int
    var name: String
  }

  @Reducer struct Orders {
    @ObservableState struct State: Equatable, Sendable { var names: [String] = [] }
    enum Action: Sendable {
      case answered(Data)
      case decoded([Record])
    }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .answered(let data):
        guard version == .faulty else {
          return .run(name: "Orders.decode", onLane: false) { send in
            send(.decoded(try decode(data)))
          }
        }
        show((try? decode(data)) ?? [], in: &state)
      case .decoded(let records): show(records, in: &state)
      }
      return .none
    }

    private func show(_ records: [Record], in state: inout State) {
      state.names = records.prefix(20).map(\.name)
    }
  }

  static func decode(_ data: Data) throws -> [Record] {
    try JSONDecoder().decode([Record].self, from: data)
  }

  struct OrdersView: View {
    static let name = "OrdersView"
    func body(_ state: Observed<Orders.State>, _ context: ViewContext) -> ViewNode {
      .list(state.names.map { ViewNode.ListRow(id: $0, .text($0)) })
    }
  }

  private static let answer: Data =
    (try? JSONEncoder().encode((0..<3_000).map { Record(id: $0, name: "order \($0)") })) ?? Data()

  static let fault = PlantedFault(
    "decodes-in-reducer", .heavyWork, "answered",
    screen: { version in
      SimulatedScreen<Void>(
        OrdersView(), state: { Orders.State() }, reducer: { _ in Orders(version: version) },
        on: { _ in [.answered(answer)] })
    },
    events: [.poisson(every: .seconds(1)) { _ in }])
}
