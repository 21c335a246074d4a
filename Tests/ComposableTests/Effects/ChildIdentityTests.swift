import Composable
import ComposableTesting
import Testing

/// Tests that effects belong to a child: they end when the child is removed or replaced, and their
/// actions reach no other child.
struct ChildIdentityTests {
  let lane = ManualLane()

  @Test(arguments: Form.allCases)
  func `replacing a child in a field ends the effects of the previous child`(form: Form) {
    let store = makeStore()
    store.change { form.put(1, into: &$0) }
    store.send(form.action(.waited))
    lane.run()
    #expect(store.runningEffects == 1)
    store.change { form.put(1, into: &$0) }
    #expect(store.runningEffects == 1, "the guest is the same")
    store.change { form.put(2, into: &$0) }
    #expect(store.runningEffects == 0)
  }

  @Test(arguments: Form.allCases)
  func `a late reply to a removed child does not reach the next child`(form: Form) {
    let clock = TestClock()
    let store = Store(initialState: House.State(), lane: clock.lane) { House(clock: clock) }
    store.send(.changed { form.put(1, into: &$0) })
    store.send(.party(form.action(.asked)))
    clock.lane.run()
    // Changes the state from outside the composition, which therefore reduces no action before the
    // reply.
    store.send(.changed { form.put(2, into: &$0) })
    #expect(store.runningEffects == 1)
    clock.advance(by: .seconds(1))
    #expect(form.replies(in: store.state.party) == 0)
    #expect(store.runningEffects == 0)
    store.send(.party(form.action(.asked)))
    clock.advance(by: .seconds(1))
    #expect(form.replies(in: store.state.party) == 1, "the new child's reply arrives")
  }

  @Test func `the effects of a child removed from outside end with the next action`() {
    let store = makeStore()
    store.change {
      $0.optional = Guest(id: 1)
      $0.rows.append(Guest(id: 1), id: 1)
    }
    store.send(.optional(.waited))
    store.send(.rows(ElementAction(id: 1, action: .waited)))
    #expect(store.runningEffects == 2)
    store.send(.cleared)
    store.send(.noted)
    #expect(store.runningEffects == 0)
  }

  @Test func `an element removed and re-added in one action counts as another element`() {
    let store = makeStore()
    store.change { $0.rows.append(Guest(id: 1), id: 1) }
    store.send(.rows(ElementAction(id: 1, action: .waited)))
    store.change {
      $0.rows.remove(id: 1)
      $0.rows.append(Guest(id: 1), id: 1)
    }
    #expect(store.runningEffects == 0)
  }

  @Test func `elements with the same keys in a new collection count as the same elements`() {
    let clock = TestClock()
    let store = makeStore(clock: clock)
    store.change { for id in 1...3 { $0.rows.append(Guest(id: id), id: id) } }
    for id in 1...3 { store.send(.rows(ElementAction(id: id, action: .asked))) }
    store.change { state in
      state.rows = KeyedCollection([3, 2].map { Guest(id: $0) })
    }
    #expect(store.runningEffects == 2)
    clock.advance(by: .seconds(1))
    #expect(store.state.rows.map(\.replies) == [1, 1])
    store.send(.rows(ElementAction(id: 2, action: .waited)))
    store.change {
      $0.rows.remove(id: 2)
      $0.rows.append(Guest(id: 2), id: 2)
    }
    #expect(store.runningEffects == 0, "the slots of the new collection are now known")
  }

  @Test func `a child that is presented during the dismissal of another child stays`() {
    let store = makeStore()
    store.change { $0.sheet = Guest(id: 1) }
    store.send(.replacing(2))
    store.send(.sheet(.dismiss))
    #expect(store.state.sheet?.id == 2)
    store.send(.sheet(.dismiss))
    #expect(store.state.sheet == nil)
    store.change { $0.sheet = Guest(id: 1) }
    store.send(.replacing(2))
    store.send(.sheet(.presented(.left)))
    #expect(store.state.sheet?.id == 2, "the dismissal belonged to the other child")
    store.send(.sheet(.presented(.left)))
    #expect(store.state.sheet == nil)
  }

  @Test func `dismissals without a presenting parent are reported`() {
    let store = makeStore()
    var failures: [String] = []
    store.onFailure = { failures.append("\($0)") }
    store.send(.sheet(.dismiss))
    #expect(store.actionsWithoutChild == 1 && failures == [])
    store.change { $0.optional = Guest(id: 1) }
    store.send(.optional(.left))
    #expect(failures == ["dismissedWithoutParent"])
  }

  @Test
  func `a late action is reported if its effect has ended, but not if the effect was cancelled`() {
    let kept = Kept()
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, LeafFeature.Action> { _, action in
        switch action {
        case .slept: .run { kept.send = $0 }
        case .sleptOver:
          .run { send in
            kept.send = send
            await waitForCancellation()
            send(.ignored)
          }.cancellable(id: 1)
        case .awoken: .cancel(id: 1)
        default: .none
        }
      }
    }
    var failures: [String] = []
    store.onFailure = { failures.append("\($0)") }
    store.send(.slept(id: 1))
    lane.run()
    kept.send?(.ignored)
    lane.run()
    #expect(failures == ["lateAction"])
    store.send(.sleptOver)
    lane.run()
    store.send(.awoken(id: 1))
    kept.send?(.ignored)
    lane.run()
    #expect(failures == ["lateAction"])
    kept.send = nil
  }

  @Test func `after a child is removed, the remaining actions of its batch are dropped`() {
    let store = makeStore()
    store.change { $0.rows.append(Guest(id: 1), id: 1) }
    store.send(.rows(ElementAction(id: 1, action: .repliedAndLeft)))
    lane.run()
    #expect(store.state.rows.isEmpty)
    #expect(store.actionsWithoutChild == 0)
  }

  private func makeStore(clock: TestClock? = nil) -> Store<Party.State, Party.Action> {
    let clock = clock ?? TestClock(lane: lane)
    return Store(initialState: Party.State(), lane: clock.lane) { Party(clock: clock) }
  }
}

/// The forms of a child that another child can replace.
enum Form: CaseIterable {
  case scoped, optional, presented, phase

  func put(_ id: Int, into state: inout Party.State) {
    switch self {
    case .scoped: state.host = Guest(id: id)
    case .optional: state.optional = Guest(id: id)
    case .presented: state.sheet = Guest(id: id)
    case .phase: state.phase = .live(Guest(id: id))
    }
  }

  func action(_ action: GuestFeature.Action) -> Party.Action {
    switch self {
    case .scoped: .host(action)
    case .optional: .optional(action)
    case .presented: .sheet(.presented(action))
    case .phase: .phase(action)
    }
  }

  func replies(in state: Party.State) -> Int? {
    switch self {
    case .scoped: return state.host.replies
    case .optional: return state.optional?.replies
    case .presented: return state.sheet?.replies
    case .phase:
      guard case .live(let guest) = state.phase else { return nil }
      return guest.replies
    }
  }
}

/// Stores the `send` of effects for longer than they run.
private final class Kept: @unchecked Sendable {
  var send: Send<LeafFeature.Action>?
}

/// A child with an identity whose fields are all trivial.
@ObservableState
struct Guest: Equatable, Identifiable, Sendable {
  var id: Int
  var replies = 0

  init(id: Int) { self.id = id }
}

@Reducer
struct GuestFeature {
  typealias State = Guest

  enum Action: Equatable, Sendable {
    case waited
    case asked
    case replied
    case left
    case repliedAndLeft
    case goneOut
  }

  let clock: TestClock

  func reduce(into state: inout Guest, action: Action) -> Effect<Action> {
    switch action {
    case .waited: return .run(name: "wait") { _ in await waitForCancellation() }
    case .asked:
      return .run(name: "ask") { [clock] send in
        try await clock.sleep(for: .seconds(1))
        send(.replied)
      }
    case .replied: state.replies += 1
    case .left: return .dismiss
    case .repliedAndLeft:
      return .run { send in send(contentsOf: [.replied, .goneOut, .replied]) }
    case .goneOut: break
    }
    return .none
  }
}

@Reducer
struct Party {
  @ObservableState
  enum Phase: Equatable, Sendable {
    case idle
    case live(Guest)
    case counting(Int)
  }

  @ObservableState
  struct State: Equatable, Sendable {
    var host = Guest(id: 0)
    var optional: Guest?
    var sheet: Guest?
    var phase: Phase = Phase.idle
    var rows = KeyedCollection<Int, Guest>()
    var next: Int?
  }

  enum Action: Sendable {
    case changed(@Sendable (inout State) -> Void)
    case replacing(Int)
    case cleared
    case noted
    case host(GuestFeature.Action)
    case optional(GuestFeature.Action)
    case sheet(PresentationAction<GuestFeature.Action>)
    case phase(GuestFeature.Action)
    case rows(ElementAction<Int, GuestFeature.Action>)
  }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .changed(let change): change(&state)
      case .replacing(let id): state.next = id
      case .sheet:
        if let next = state.next { state.sheet = Guest(id: next) }
        state.next = nil
      case .rows(let element) where element.action == .goneOut: state.rows.remove(id: element.id)
      default: break
      }
      return .none
    }
    .ifLet(\.optional, action: \.optional) { GuestFeature(clock: clock) }
    .presents(\.sheet, action: \.sheet) { GuestFeature(clock: clock) }
    .ifCaseLet(\.phase, case: \.live, action: \.phase) { GuestFeature(clock: clock) }
    .forEach(\.rows, action: \.rows) { GuestFeature(clock: clock) }
    // Runs after its parent, so that it sees the child that the parent assigned.
    Scope(state: \.host, action: \.host) { GuestFeature(clock: clock) }
    Reduce { state, action in
      guard case .cleared = action else { return .none }
      state.optional = nil
      state.rows.removeAll()
      return .none
    }
  }
}

/// A feature above a party.
@Reducer
private struct House {
  @ObservableState
  struct State: Equatable, Sendable {
    var party = Party.State()
  }

  enum Action: Sendable {
    case changed(@Sendable (inout Party.State) -> Void)
    case party(Party.Action)
  }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    Scope(state: \.party, action: \.party) { Party(clock: clock) }
    Reduce { state, action in
      if case .changed(let change) = action { change(&state.party) }
      return .none
    }
  }
}

extension Store<Party.State, Party.Action> {
  func change(_ change: @escaping @Sendable (inout Party.State) -> Void) { send(.changed(change)) }
}
