package import BenchmarkChildren
package import Composable

/// A list of children with a title.
@Reducer
package struct ListFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var title = ""
    package var revision = 0
    package var rows = KeyedCollection<Int, PanelFeature.State>()

    /// - Parameter count: the number of rows. The keys of the rows start at 0.
    package init(count: Int) {
      for id in 0..<count { rows.append(PanelFeature.State(), id: id) }
    }
  }

  package enum Action: Equatable, Sendable {
    case rows(ElementAction<Int, PanelFeature.Action>)
    case revised
    case ignored
  }

  package init() {}

  package var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .revised: state.revision &+= 1
      case .rows, .ignored: break
      }
      return .none
    }
    .forEach(\.rows, action: \.rows) { PanelFeature() }
  }
}
