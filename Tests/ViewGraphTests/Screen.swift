import Composable
import ComposableTesting
import ViewGraph

/// A screen of a parent over a tracked, an ignored and an optional child.
@ObservableState
struct ScreenState: Equatable {
  var title: String = ""
  var unread: Int = 0
  var tracked: PanelState = PanelState()
  @ObservationStateIgnored var ignored: PanelState = PanelState()
  @ObservationStateIgnored var optional: PanelState?
}

@ObservableState
struct PanelState: Equatable {
  var shown: Int = 0
  var hidden: Int = 0
}

enum ScreenAction: Sendable {
  case title(String)
  case unread
  case tracked(Panel)
  case ignored(Panel)
  case optional(Panel)
  case replaceIgnored
  case open
  case close

  enum Panel: Sendable { case shown(Int), hidden(Int) }
}

@Reducer
struct ScreenReducer {
  typealias State = ScreenState
  typealias Action = ScreenAction

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .title(let title): state.title = title
    case .unread: state.unread += 1
    case .tracked(let change): apply(change, to: &state.tracked)
    case .ignored(let change): apply(change, to: &state.ignored)
    case .optional(let change): if state.optional != nil { apply(change, to: &state.optional!) }
    case .replaceIgnored: state.ignored = PanelState()
    case .open: state.optional = PanelState()
    case .close: state.optional = nil
    }
    return .none
  }

  private func apply(_ change: Action.Panel, to panel: inout PanelState) {
    switch change {
    case .shown(let value): panel.shown = value
    case .hidden(let value): panel.hidden = value
    }
  }
}

struct ScreenView: View {
  static let name = "ScreenView"

  func body(_ state: Observed<ScreenState>, _ context: ViewContext) -> ViewNode {
    .column([
      .text(state.title),
      context.child(TrackedView(), state, \.tracked),
      context.child(IgnoredView(), state, \.ignored),
      context.child(OptionalView(), state, \.optional),
    ])
  }
}

struct TrackedView: View {
  static let name = "TrackedView"
  func body(_ state: Observed<PanelState>, _ context: ViewContext) -> ViewNode {
    .text("tracked \(state.shown)")
  }
}

struct IgnoredView: View {
  static let name = "IgnoredView"
  func body(_ state: Observed<PanelState>, _ context: ViewContext) -> ViewNode {
    .text("ignored \(state.shown)")
  }
}

struct OptionalView: View {
  static let name = "OptionalView"
  func body(_ state: Observed<PanelState>, _ context: ViewContext) -> ViewNode {
    .text("optional \(state.shown)")
  }
}

/// A screen whose frames are drawn explicitly.
final class DrawnScreen {
  let store: Store<ScreenState, ScreenAction>
  let graph: ViewGraph
  private(set) var records: [EvaluationRecord] = []

  init(ignored: FieldSet? = nil) {
    let store = Store(
      initialState: ScreenState(), lane: ManualLane(), notification: .batched
    ) { ScreenReducer() }
    self.store = store
    if let ignored { store.setIgnored(ignored) }
    var time: UInt64 = 0
    graph = ViewGraph(
      ScreenView(), place: store.place,
      clock: {
        time += 10
        return time
      }, read: { [unowned store] in store.state })
    graph.onEvaluation = { [unowned self] in records.append($0) }
    draw()
    records = []
  }

  /// Draws a frame and returns the names of the evaluated views, in order.
  @discardableResult
  func draw() -> [String] {
    let before = records.count
    store.deliverChanges()
    graph.evaluateFrame()
    return records[before...].map(\.name)
  }

  func send(_ actions: ScreenAction...) -> [String] {
    store.send(contentsOf: actions)
    return draw()
  }
}
