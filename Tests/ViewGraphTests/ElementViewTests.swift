import Composable
import ComposableTesting
import Testing
import ViewGraph

/// Views of elements and of cases.
@ObservableState
private struct ListState: Equatable, Sendable {
  var title: String = ""
  @ObservationStateIgnored var rows: KeyedCollection<Int, RowState> = KeyedCollection()
  @ObservationStateIgnored var phase: Phase = Phase.waiting(RowState())
}

@ObservableState
private struct RowState: Equatable, Sendable {
  var shown: Int = 0
  var hidden: Int = 0

  init(shown: Int = 0) { self.shown = shown }
}

@ObservableState
private enum Phase: Equatable, Sendable {
  case waiting(RowState)
  case live(RowState)
  case over
}

@CasePathable
private enum ListAction: Sendable {
  case added(Int)
  case removed(Int)
  case cameBack(Int)
  case movedFirst(Int)
  case replaced([Int])
  case changed(Int, shown: Int)
  case changedHidden(Int)
  case entered(Phase)
  case row(Int)
}

@Reducer
private struct PhaseRow {
  typealias State = RowState
  typealias Action = Int

  func reduce(into state: inout RowState, action: Int) -> Effect<Int> {
    state.shown = action
    return .none
  }
}

@Reducer
private struct ListReducer {
  typealias State = ListState
  typealias Action = ListAction

  var body: ReducerSteps<ListState, ListAction> {
    Reduce { state, action in
      switch action {
      case .added(let id): state.rows.append(RowState(), id: id)
      case .removed(let id): state.rows.remove(id: id)
      case .cameBack(let id):
        state.rows.remove(id: id)
        state.rows.append(RowState(shown: 100), id: id)
      case .movedFirst(let id): state.rows.move(id: id, to: .first)
      case .replaced(let ids):
        var rows = KeyedCollection<Int, RowState>()
        for id in ids { rows.append(RowState(shown: 1_000 + id), id: id) }
        state.rows = rows
      case .changed(let id, let shown): state.rows[id: id]?.shown = shown
      case .changedHidden(let id): state.rows[id: id]?.hidden += 1
      case .entered(let phase): state.phase = phase
      case .row: break
      }
      return .none
    }
    .ifCaseLet(\.phase, case: \.live, action: \.row) { PhaseRow() }
  }
}

private struct ListView: View {
  static let name = "ListView"

  func body(_ state: Observed<ListState>, _ context: ViewContext) -> ViewNode {
    .column(
      [
        .text(state.title),
        context.child(PhaseView(), state, \.phase, case: \.waiting),
        context.child(PhaseView(), state, \.phase, case: \.live),
      ] + context.each(RowView(), state, \.rows))
  }
}

private struct RowView: View {
  static let name = "RowView"
  func body(_ state: Observed<RowState>, _ context: ViewContext) -> ViewNode {
    .text("row \(state.shown)")
  }
}

private struct PhaseView: View {
  static let name = "PhaseView"
  func body(_ state: Observed<RowState>, _ context: ViewContext) -> ViewNode {
    .text("phase \(state.shown)")
  }
}

private final class DrawnList {
  let store: Store<ListState, ListAction>
  let graph: ViewGraph
  private(set) var records: [EvaluationRecord] = []

  init(rows: Int = 0, ignored: FieldSet? = nil) {
    let store = Store(
      initialState: ListState(), lane: ManualLane(), notification: .batched
    ) { ListReducer() }
    self.store = store
    if let ignored { store.setIgnored(ignored) }
    store.attributeChanges(true)
    for id in 0..<rows { store.send(.added(id)) }
    graph = ViewGraph(
      ListView(), place: store.place, clock: { 0 }, read: { [unowned store] in store.state })
    graph.onEvaluation = { [unowned self] in records.append($0) }
    draw()
  }

  @discardableResult
  func draw() -> [EvaluationRecord] {
    let before = records.count
    store.deliverChanges()
    graph.evaluateFrame()
    return Array(records[before...])
  }

  func send(_ actions: ListAction...) -> [String] {
    store.send(contentsOf: actions)
    return draw().map(\.name)
  }

  var lines: [String] {
    guard case .column(let nodes) = graph.screen() else { return [] }
    return nodes.compactMap { if case .text(let text, _) = $0, !text.isEmpty { text } else { nil } }
  }
}

struct ElementViewTests {
  @Test func `a change of an element evaluates only the view of this element`() {
    let list = DrawnList(rows: 1_000)
    #expect(list.records.count { $0.name == "RowView" } == 1_000)
    #expect(list.send(.changed(7, shown: 1), .changed(9, shown: 2)) == ["RowView", "RowView"])
    #expect(
      list.records.last?.triggers.first == EvaluationTrigger(action: "changed", field: "shown"))
    #expect(list.send(.changedHidden(7)) == [], "its view does not read this field")
    #expect(list.lines[8] == "row 1")
  }

  @Test func `views of elements are added, removed and moved with their elements`() {
    let list = DrawnList(rows: 3)
    #expect(list.send(.added(3)) == ["RowView", "ListView"])
    #expect(list.send(.changed(3, shown: 30)) == ["RowView"])
    #expect(list.send(.movedFirst(3)) == ["ListView"])
    #expect(list.lines == ["phase 0", "row 30", "row 0", "row 0", "row 0"])
    #expect(list.send(.removed(1)) == ["ListView"])
    #expect(list.lines.count == 4)
    #expect(list.send(.changed(1, shown: 9)) == [])
  }

  @Test func `an element removed and added again within a frame gets a new view`() {
    let list = DrawnList(rows: 2)
    #expect(list.send(.cameBack(0)) == ["RowView", "ListView"])
    #expect(list.lines == ["phase 0", "row 0", "row 100"])
    #expect(list.send(.changed(0, shown: 5)) == ["RowView"])
    #expect(list.lines.last == "row 5")
  }

  @Test func `a replaced collection shows its elements, each evaluated separately`() {
    let list = DrawnList(rows: 3)
    #expect(list.send(.replaced([2, 0, 8])).contains("ListView"))
    #expect(list.lines == ["phase 0", "row 1002", "row 1000", "row 1008"])
    #expect(list.send(.changed(0, shown: 4)) == ["RowView"])
    #expect(list.send(.changed(8, shown: 5)) == ["RowView"])
    #expect(list.lines == ["phase 0", "row 1002", "row 4", "row 5"])
  }

  @Test func `the elements of a tracked field are passed to their views`() {
    let list = DrawnList(rows: 3, ignored: [])
    #expect(
      list.send(.changed(1, shown: 1)).sorted()
        == ["ListView", "PhaseView", "RowView", "RowView", "RowView"])
  }

  @Test func `the view of a case exists while the state has this case`() {
    let list = DrawnList()
    #expect(list.lines == ["phase 0"])
    #expect(list.send(.entered(.live(RowState(shown: 3)))).sorted() == ["ListView", "PhaseView"])
    #expect(list.lines == ["phase 3"])
    #expect(list.send(.row(4)) == ["PhaseView"], "a change within the case evaluates only its view")
    #expect(list.lines == ["phase 4"])
    #expect(list.send(.entered(.over)) == ["ListView"])
    #expect(list.lines == [])
    #expect(list.send(.row(5)) == [])
    #expect(list.send(.entered(.live(RowState(shown: 6)))).contains("PhaseView"))
    #expect(list.lines == ["phase 6"])
    // The state has the same case with another payload.
    _ = list.send(.entered(.live(RowState(shown: 7))))
    #expect(list.lines == ["phase 7"])
  }

  @Test func `the payload of a case in a tracked field is passed to its view`() {
    let list = DrawnList(ignored: [])
    _ = list.send(.entered(.live(RowState())))
    #expect(list.send(.row(4)).sorted() == ["ListView", "PhaseView"])
    #expect(list.lines == ["phase 4"])
  }
}
