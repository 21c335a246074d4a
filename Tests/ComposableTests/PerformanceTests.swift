import Composable
import ComposableTesting
import Testing

// The code of the article "Performance". ``ArticleTests`` compares both.

struct Row: Equatable, Sendable {
  var isNew = true
}

struct RowClient: Sendable {
  var rows: @Sendable () async throws -> [Row]
}

/// The result of an export.
struct Summary: Equatable, Sendable {
  var rows = 0
  mutating func add(_ row: Row) { rows += 1 }
}

@Reducer
struct RowsFeature {
  @ObservableState
  struct State: Equatable, Sendable {
    var rows: [Row] = []
    var isLoading = false
  }

  enum Action: Equatable, Sendable {
    case opened
    case pulled
    case loaded([Row])
  }

  let client: RowClient

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .opened: return refresh(&state)
    case .pulled: return refresh(&state)
    case .loaded(let rows):
      state.isLoading = false
      state.rows = rows
      return .none
    }
  }

  private func refresh(_ state: inout State) -> Effect<Action> {
    state.isLoading = true
    return .run(name: "Rows.load") { [client] send in send(.loaded(try await client.rows())) }
  }
}

@Reducer
struct Archive {
  @ObservableState
  struct State: Equatable, Sendable {
    var list = RowsFeature.State()
    var summary: Summary?
  }

  enum Action: Equatable, Sendable {
    case allTapped
    case exportTapped
    case exported(Summary)
    case list(RowsFeature.Action)
  }

  let client: RowClient

  var body: some ReducerOf<Self> {
    Scope(state: \.list, action: \.list) { RowsFeature(client: client) }
    Reduce { [client] state, action in
      switch action {
      case .allTapped:
        return RowsFeature(client: client)
          .reduce(into: &state.list, action: .pulled).map(Action.list)
      case .exportTapped:
        return .run(name: "Export", onLane: false) { [rows = state.list.rows] send in
          var summary = Summary()
          for (number, row) in rows.enumerated() {
            if number.isMultiple(of: 1_000) { await Task.yield() }
            summary.add(row)
          }
          send(.exported(summary))
        }
      case .exported(let summary):
        state.summary = summary
        return .none
      case .list:
        return .none
      }
    }
  }
}

struct PerformanceTests {
  private let client = RowClient { [Row(), Row(isNew: false), Row()] }

  @Test func `a parent runs a child's reducer directly and maps its effect`() async {
    let store = TestStore(initialState: Archive.State()) { Archive(client: client) }
    await store.send(.allTapped) { $0.list.isLoading = true }
    await store.receive(\.list.loaded) {
      $0.list.isLoading = false
      $0.list.rows = [Row(), Row(isNew: false), Row()]
    }
    await store.send(.exportTapped)
    await store.receive(.exported(Summary(rows: 3))) { $0.summary = Summary(rows: 3) }
    await store.send(.list(.opened)) { $0.list.isLoading = true }
    await store.skipReceivedActions()
  }

  @Test func `a computed scope is evaluated at each access, and its evaluations are counted`() {
    var state = Archive.State()
    state.list.rows = [Row(), Row(isNew: false)]
    let store = Store(initialState: state, lane: ManualLane()) { Archive(client: client) }
    let new = store.scope(computed: "new rows") { $0.list.rows.count { $0.isNew } }
    #expect(new.state == 1 && new.state == 1)
    #expect(store.computedScopeCounts.map(\.name) == ["new rows"])
    #expect(store.computedScopeCounts.map(\.evaluations) == [2])
  }
}
