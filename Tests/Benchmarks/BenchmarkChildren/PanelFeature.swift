package import Composable

/// A child of the benchmark's host with a changing number and a text.
@Reducer
package struct PanelFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var count = 0
    package var level = 0
    package var name = ""

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case incremented
    case levelChanged(Int)
    case renamed(String)
    case ignored
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .incremented: state.count &+= 1
    case .levelChanged(let level): state.level = level
    case .renamed(let name): state.name = name
    case .ignored: break
    }
    return .none
  }
}
