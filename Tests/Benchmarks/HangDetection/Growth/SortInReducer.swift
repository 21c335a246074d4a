import Composable
import HangSimulation
import ViewGraph

/// A reducer sorts all entries of a ranking whenever an entry arrives.
enum SortInReducer {
  @Reducer struct Ranking {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var entries: [Article] = Article.page(0, of: 500)
        .sorted { $0.name.lowercased() < $1.name.lowercased() }
      var top: [Article] = []
    }
    enum Action: Sendable { case received(Article) }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .received(let entry) = action else { return .none }
      switch version {
      case .faulty:
        state.entries.append(entry)
        state.entries.sort { $0.name.lowercased() < $1.name.lowercased() }
      case .sound: state.entries.insert(entry, at: place(of: entry, in: state.entries))
      }
      if state.entries.count > 1_750 { state.entries.removeLast() }
      state.top = Array(state.entries.prefix(20))
      return .none
    }

    private func place(of entry: Article, in entries: [Article]) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].name.lowercased() < entry.name.lowercased() {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low
    }
  }

  struct RankingView: View {
    static let name = "RankingView"
    func body(_ state: Observed<Ranking.State>, _ context: ViewContext) -> ViewNode {
      .list(state.top.map { ViewNode.ListRow(id: "\($0.id)", .text($0.name)) })
    }
  }

  static let fault = PlantedFault(
    "sort-in-reducer", .growth, "received", field: "entries",
    screen: { version in
      SimulatedScreen<Int>(
        RankingView(), state: { Ranking.State() }, reducer: { _ in Ranking(version: version) },
        on: { [.received(Article(id: $0))] })
    },
    events: [.poisson(every: .milliseconds(12)) { $0.integer(in: 0...1_000_000) }])
}
