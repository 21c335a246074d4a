import Composable
import ComposableTesting

/// A small child.
@ObservableState
struct Leaf: Equatable, Hashable, Codable, Sendable {
  var count = 0
  var name = ""
}

/// An enum state with a child in one case.
@ObservableState
enum Phase: Equatable, Sendable {
  case idle
  case live(Leaf)
  case failed(String)
  case ended(code: Int, Leaf)
}

@Reducer
struct LeafFeature {
  typealias State = Leaf

  enum Action: Equatable, Sendable {
    case counted(Int)
    case named(String)
    case ignored
    case slept(id: Int)
    case sleptOver
    case awoken(id: Int)
    case dismissed
  }

  func reduce(into state: inout Leaf, action: Action) -> Effect<Action> {
    switch action {
    case .counted(let amount): state.count += amount
    case .named(let name): state.name = name
    case .ignored: break
    case .slept(let id):
      return .run(name: "sleep") { _ in await waitForCancellation() }.cancellable(id: id)
    case .sleptOver: return .none
    case .awoken(let id): return .cancel(id: id)
    case .dismissed: return .dismiss
    }
    return .none
  }
}

/// A state with one field of each form.
@ObservableState
struct Zoo: Equatable, Sendable {
  var number = 0
  var text = ""
  var list: [Int] = []
  var nested: Int??
  var child = Leaf()
  @ObservationStateIgnored var hidden = Leaf()
  var optional: Leaf?
  var sheet: Leaf?
  var phase: Phase = Phase.idle
  var rows = KeyedCollection<Int, Leaf>()
}

/// Runs a child for each form of state, and lets a test change the state freely.
@Reducer
struct ZooFeature {
  typealias State = Zoo

  enum Action: Sendable {
    case changed(@Sendable (inout Zoo) -> Void)
    case child(LeafFeature.Action)
    case hidden(LeafFeature.Action)
    case optional(LeafFeature.Action)
    case sheet(PresentationAction<LeafFeature.Action>)
    case phase(LeafFeature.Action)
    case rows(ElementAction<Int, LeafFeature.Action>)
  }

  var body: some ReducerOf<Self> {
    Scope(state: \.child, action: \.child) { LeafFeature() }
    Scope(state: \.hidden, action: \.hidden) { LeafFeature() }
    Reduce { state, action in
      if case .changed(let change) = action { change(&state) }
      return .none
    }
    .ifLet(\.optional, action: \.optional) { LeafFeature() }
    .presents(\.sheet, action: \.sheet) { LeafFeature() }
    .ifCaseLet(\.phase, case: \.live, action: \.phase) { LeafFeature() }
    .forEach(\.rows, action: \.rows) { LeafFeature() }
  }
}

typealias ZooStore = Store<Zoo, ZooFeature.Action>

extension ZooStore {
  static func make(
    _ initial: Zoo = Zoo(), lane: ManualLane = ManualLane(),
    _ notification: Notification = .immediate
  ) -> ZooStore {
    ZooStore(initialState: initial, lane: lane, notification: notification) { ZooFeature() }
  }

  func change(_ change: @escaping @Sendable (inout Zoo) -> Void) { send(.changed(change)) }
}
