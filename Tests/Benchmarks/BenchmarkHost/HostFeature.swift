package import BenchmarkChildren
package import Composable

/// A host with five children, two of them optional, as in typical programs that use this library.
@Reducer
package struct HostFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    package var title = ""
    package var first = PanelFeature.State()
    package var second = PanelFeature.State()
    package var third = PanelFeature.State()
    package var fourth: PanelFeature.State?
    package var fifth: PanelFeature.State?

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case first(PanelFeature.Action)
    case second(PanelFeature.Action)
    case third(PanelFeature.Action)
    case fourth(PanelFeature.Action)
    case fifth(PanelFeature.Action)
    case opened
    case closed
    case titled(String)
  }

  package init() {}

  package var body: ReducerSteps<State, Action> {
    Scope(state: \.first, action: \.first) { PanelFeature() }
    Scope(state: \.second, action: \.second) { PanelFeature() }
    Scope(state: \.third, action: \.third) { PanelFeature() }
    Reduce { state, action in
      switch action {
      case .opened:
        state.fourth = PanelFeature.State()
        state.fifth = PanelFeature.State()
      case .closed:
        state.fourth = nil
        state.fifth = nil
      case .titled(let title): state.title = title
      case .first, .second, .third, .fourth, .fifth: break
      }
      return .none
    }
    .ifLet(\.fourth, action: \.fourth) { PanelFeature() }
    .ifLet(\.fifth, action: \.fifth) { PanelFeature() }
  }
}
