import Composable
import ComposableTesting
import Testing

/// A row that asks before it is muted.
@Reducer
private struct AskingRow {
  @ObservableState
  struct State: Equatable, Identifiable, Sendable {
    let id: Int
    var isMuted = false
    var alert: AlertState<Answer>?
  }

  enum Answer: Equatable, Sendable { case muted, asked, explained }

  enum Action: Equatable, Sendable {
    case muteTapped
    case alert(PresentationAction<Answer>)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .muteTapped, .alert(.presented(.asked)): state.alert = .question
      case .alert(.presented(.muted)): state.isMuted = true
      case .alert(.presented(.explained)): state.alert = AlertState("Muted rows are silent.")
      case .alert(.dismiss): break
      }
      return .none
    }
    .presents(\.alert, action: \.alert) { Alert() }
  }
}

extension AlertState<AskingRow.Answer> {
  fileprivate static var question: Self {
    AlertState(
      "Mute it?",
      buttons: [
        ButtonState("Mute", role: .destructive, action: .muted),
        ButtonState("Ask again", action: .asked), ButtonState("What is that?", action: .explained),
        ButtonState("Keep", role: .cancel),
      ])
  }
}

@Reducer
private struct AskingList {
  @ObservableState
  struct State: Equatable, Sendable {
    var rows: KeyedCollection<Int, AskingRow.State> = KeyedCollection(
      [AskingRow.State(id: 1), AskingRow.State(id: 2)])
  }

  enum Action: Sendable { case rows(ElementAction<Int, AskingRow.Action>) }

  var body: some ReducerOf<Self> {
    EmptyReducer().forEach(\.rows, action: \.rows) { AskingRow() }
  }
}

struct AlertTests {
  private func makeStore() async -> TestStore<AskingList.State, AskingList.Action> {
    let store = TestStore(initialState: AskingList.State()) { AskingList() }
    await store.send(\.rows[id: 2].muteTapped) { $0.rows[id: 2]?.alert = .question }
    return store
  }

  @Test func `a button of a row's alert sends its action and then dismisses the alert in the row`()
    async
  {
    let store = await makeStore()
    await store.send(\.rows[id: 2].alert.presented, .muted) { $0.rows[id: 2]?.isMuted = true }
    await store.receive(\.rows[id: 2].alert.dismiss) { $0.rows[id: 2]?.alert = nil }
    await store.finish()
  }

  @Test func `a button without an action only dismisses its alert`() async {
    let store = await makeStore()
    #expect(store.state.rows[id: 2]?.alert?.buttons.last?.action == nil)
    await store.send(\.rows[id: 2].alert.dismiss) { $0.rows[id: 2]?.alert = nil }
    await store.finish()
  }

  @Test func `a button can show the next alert`() async {
    let store = await makeStore()
    await store.send(\.rows[id: 2].alert.presented, .explained) {
      $0.rows[id: 2]?.alert = AlertState("Muted rows are silent.")
    }
    await store.finish()
  }

  @Test
  func `an alert that an action shows again stays, even if equal, and observers are notified`()
    async
  {
    let test = await makeStore()
    await test.send(\.rows[id: 2].alert.presented, .asked)
    await test.finish()
    #expect(test.state.rows[id: 2]?.alert == .question)

    let store = Store(initialState: AskingRow.State(id: 1), lane: DirectLane()) { AskingRow() }
    let calls = Calls()
    let observer = store.observe(\.alert) { calls.record("alert") }
    store.send(.muteTapped)
    store.send(.muteTapped)
    #expect(calls.taken() == ["alert", "alert"], "the view must show it again")
    store.send(.alert(.dismiss))
    store.send(.alert(.dismiss))
    #expect(calls.taken() == ["alert"])
    _ = observer
  }
}

/// An alert among the features of an enum.
@Reducer
private enum ShelfSheet {
  case alert(AlertState<Answer>)
  case dialog(ConfirmationDialogState<Answer>)
  case leaf(LeafFeature)

  @CasePathable
  enum Answer: Equatable, Sendable { case deleted, kept }
}

@Reducer
private struct Shelf {
  @ObservableState
  struct State: Equatable, Sendable {
    var destination: ShelfSheet.State?
    var answers: [ShelfSheet.Answer] = []
  }

  enum Action: Equatable, Sendable {
    case deleteTapped(isUndecided: Bool)
    case destination(PresentationAction<ShelfSheet.Action>)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .deleteTapped(let isUndecided):
        state.destination = isUndecided ? .dialog(.delete) : .alert(.delete)
      case .destination(.presented(.alert(let answer))),
        .destination(.presented(.dialog(let answer))):
        state.answers.append(answer)
      case .destination: break
      }
      return .none
    }
    .presents(\.destination, action: \.destination) { ShelfSheet.Features(leaf: LeafFeature()) }
  }
}

extension AlertState<ShelfSheet.Answer> {
  fileprivate static var delete: Self {
    AlertState {
      "Delete it?"
    } actions: {
      ButtonState(role: .destructive, action: .deleted) { "Delete" }
      ButtonState(role: .cancel) { "Keep" }
    } message: {
      "It cannot be restored."
    }
  }
}

extension ShelfSheet.Action: Equatable {}

extension AlertTests {
  @Test func `an alert can be a case of an enum of features and needs no reducer`() async {
    let store = TestStore(initialState: Shelf.State()) { Shelf() }
    await store.send(.deleteTapped(isUndecided: false)) { $0.destination = .alert(.delete) }
    await store.send(\.destination.presented.alert.deleted) { $0.answers = [.deleted] }
    await store.receive(\.destination.dismiss) { $0.destination = nil }
    await store.send(.deleteTapped(isUndecided: true)) { $0.destination = .dialog(.delete) }
    await store.send(\.destination.presented.dialog.kept) { $0.answers.append(.kept) }
    await store.receive(\.destination.dismiss) { $0.destination = nil }
    await store.finish()
  }

  @Test func `an alert built from parts equals one built in one line`() {
    let isSafe = false
    let alert = AlertState<Int> {
      "A"
    } actions: {
      for number in 0..<2 { ButtonState(action: number) { "\(number)" } }
      if isSafe { ButtonState(action: 7) { "safe" } }
      if isSafe { ButtonState(action: 8) { "a" } } else { ButtonState(action: 9) { "b" } }
    }
    #expect(
      alert
        == AlertState(
          "A",
          buttons: [
            ButtonState("0", action: 0), ButtonState("1", action: 1), ButtonState("b", action: 9),
          ]))
  }
}
