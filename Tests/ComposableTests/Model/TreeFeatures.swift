import Composable
import ComposableTesting

/// A feature without children.
@Reducer
struct Twig: TreeFeature {
  @ObservableState
  struct State: Equatable, Sendable { var log: [Int] = [] }

  enum Action: Equatable, Sendable {
    case perform(EffectTree)
    case told(EffectTree.Told)
  }

  let clock: TestClock

  static func told(_ told: EffectTree.Told) -> Action { .told(told) }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .perform(let tree): return effect(of: tree) { _, _ in .none }
    case .told(let told):
      state.log.append(told.token)
      return effect(of: told.reaction) { _, _ in .none }
    }
  }
}

/// A feature with twigs. The branch also composes the first twig by calling the reducer of the
/// twig.
@Reducer
struct Branch: TreeFeature {
  @ObservableState
  struct State: Equatable, Sendable {
    var log: [Int] = []
    var twigs = KeyedCollection<Int, Twig.State>()

    init() { for id in 0..<2 { twigs.append(Twig.State(), id: id) } }
  }

  enum Action: Equatable, Sendable {
    case perform(EffectTree)
    case told(EffectTree.Told)
    case twigs(ElementAction<Int, Twig.Action>)
  }

  let clock: TestClock

  static func told(_ told: EffectTree.Told) -> Action { .told(told) }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .perform(let tree): return effect(of: tree, &state)
      case .told(let told):
        state.log.append(told.token)
        return effect(of: told.reaction, &state)
      case .twigs: return .none
      }
    }
    .forEach(\.twigs, action: \.twigs) { Twig(clock: clock) }
  }

  private func effect(of tree: EffectTree?, _ state: inout State) -> Effect<Action> {
    effect(of: tree) { _, tree in
      Twig(clock: clock).reduce(into: &state.twigs[id: 0]!, action: .perform(tree))
        .map { .twigs(ElementAction(id: 0, action: $0)) }
    }
  }
}

/// The root: branches that can be added and removed, and one branch whose reducer the root calls
/// directly.
@Reducer
struct Trunk: TreeFeature {
  @ObservableState
  struct State: Equatable, Sendable {
    var log: [Int] = []
    var part = Branch.State()
    var rows = KeyedCollection<Int, Branch.State>()
  }

  enum Action: Equatable, Sendable {
    case perform(EffectTree)
    case told(EffectTree.Told)
    case part(Branch.Action)
    case rows(ElementAction<Int, Branch.Action>)
    case added(Int)
    case removed(Int)
  }

  let clock: TestClock

  static func told(_ told: EffectTree.Told) -> Action { .told(told) }

  var body: some ReducerOf<Self> {
    let branch = Branch(clock: clock).prepare()
    Reduce { state, action in
      switch action {
      case .perform(let tree): return effect(of: tree, &state, branch)
      case .told(let told):
        state.log.append(told.token)
        return effect(of: told.reaction, &state, branch)
      case .part(let action):
        return branch.reduce(into: &state.part, action: action).map(Action.part)
      case .rows: break
      case .added(let row): state.rows.append(Branch.State(), id: row)
      case .removed(let row): state.rows.remove(id: row)
      }
      return .none
    }
    .forEach(\.rows, action: \.rows) { Branch(clock: clock) }
  }

  private func effect(
    of tree: EffectTree?, _ state: inout State, _ branch: Branch.Prepared
  ) -> Effect<Action> {
    effect(of: tree) { element, tree in
      let action: Branch.Action =
        element.map { .twigs(ElementAction(id: $0, action: .perform(tree))) } ?? .perform(tree)
      return branch.reduce(into: &state.part, action: action).map(Action.part)
    }
  }
}

/// The position of a feature in a ``Trunk``.
enum TreePosition: Hashable, Sendable {
  case trunk, part
  case twig(Int)
  case row(Int)
  case rowTwig(Int)

  /// The child that is composed by calling its reducer.
  var composed: TreePosition {
    switch self {
    case .trunk: .part
    case .part: .twig(0)
    case .row(let row): .rowTwig(row)
    case .twig, .rowTwig: self
    }
  }

  /// The scope of the effects of its own actions.
  var scope: TreePosition { self == .part ? .trunk : self }

  /// The number of levels of children below this position.
  var depth: Int {
    switch self {
    case .trunk: 2
    case .part, .row: 1
    case .twig, .rowTwig: 0
    }
  }
}

extension Trunk.Action {
  /// Returns the action `perform` of the feature at `place`.
  static func perform(_ tree: EffectTree, at place: TreePosition) -> Self {
    switch place {
    case .trunk: .perform(tree)
    case .part: .part(.perform(tree))
    case .twig(let id): .part(.twigs(ElementAction(id: id, action: .perform(tree))))
    case .row(let row): .rows(ElementAction(id: row, action: .perform(tree)))
    case .rowTwig(let row):
      .rows(
        ElementAction(id: row, action: .twigs(ElementAction(id: 0, action: .perform(tree)))))
    }
  }

  /// The place and the token of a received action.
  var told: (TreePosition, Int)? {
    switch self {
    case .told(let told): return (.trunk, told.token)
    case .part(.told(let told)): return (.part, told.token)
    case .part(.twigs(let element)):
      guard case .told(let told) = element.action else { return nil }
      return (.twig(element.id), told.token)
    case .rows(let element):
      switch element.action {
      case .told(let told): return (.row(element.id), told.token)
      case .twigs(let twig):
        guard case .told(let told) = twig.action else { return nil }
        return (.rowTwig(element.id), told.token)
      case .perform: return nil
      }
    case .perform, .part, .added, .removed: return nil
    }
  }
}
