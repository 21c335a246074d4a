import Composable
import ComposableTesting
import Testing

struct CompositionTests {
  @Test func `a child runs before its parent, and its siblings do not run`() {
    let calls = Calls()
    var zoo = Zoo()
    zoo.optional = Leaf()
    let store = Store(initialState: zoo, lane: DirectLane()) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Scope(state: \.child, action: \.child) { Noting(name: "child", calls: calls) }
        Scope(state: \.hidden, action: \.hidden) { Noting(name: "hidden", calls: calls) }
        Reduce { _, _ in
          calls.record("parent")
          return .none
        }
        .ifLet(\.optional, action: \.optional) { Noting(name: "optional", calls: calls) }
        .forEach(\.rows, action: \.rows) { Noting(name: "row", calls: calls) }
      }
    }
    store.send(.child(.ignored))
    #expect(calls.taken() == ["child", "parent"])
    store.send(.changed { _ in })
    #expect(calls.taken() == ["parent"])
    store.send(.optional(.ignored))
    #expect(calls.taken() == ["optional", "parent"])
  }

  @Test func `an action for a missing child is dropped and counted`() {
    let store = ZooStore.make()
    store.send(.optional(.counted(1)))
    store.send(.phase(.counted(1)))
    store.send(.rows(ElementAction(id: 4, action: .counted(1))))
    store.send(.sheet(.presented(.counted(1))))
    #expect(store.state == Zoo())
    #expect(store.actionsWithoutChild == 4)
  }

  @Test func `the child of an enum's case is changed in place and observed`() {
    let store = ZooStore.make()
    let calls = Calls()
    let observer = store.observe(\.phase) { calls.record("phase") }
    store.change { $0.phase = .live(Leaf()) }
    store.send(.phase(.counted(3)))
    #expect(calls.taken() == ["phase", "phase"])
    store.send(.phase(.ignored))
    #expect(calls.taken() == [])
    guard case .live(let leaf) = store.state.phase else { Issue.record("not live"); return }
    #expect(leaf.count == 3)
    _ = observer
  }

  @Test func `a presented child is dismissed by its parent's action or by itself`() {
    let store = ZooStore.make()
    store.change { $0.sheet = Leaf() }
    store.send(.sheet(.presented(.counted(2))))
    #expect(store.state.sheet?.count == 2)
    store.send(.sheet(.dismiss))
    #expect(store.state.sheet == nil)
    store.change { $0.sheet = Leaf() }
    store.send(.sheet(.presented(.dismissed)))
    #expect(store.state.sheet == nil)
    #expect(store.actionsWithoutChild == 0)
  }

  @Test func `a parent still has its presented child in the state while it reduces the dismissal`()
  {
    let calls = Calls()
    var zoo = Zoo()
    zoo.sheet = Leaf(count: 3, name: "")
    let store = Store(initialState: zoo, lane: DirectLane()) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, _ in
          calls.record("\(state.sheet?.count ?? -1)")
          return .none
        }
        .presents(\.sheet, action: \.sheet) { LeafFeature() }
      }
    }
    store.send(.sheet(.presented(.counted(1))))
    store.send(.sheet(.dismiss))
    store.send(.sheet(.dismiss))
    #expect(calls.taken() == ["4", "4", "-1"])
  }

  @Test func `a child that its parent removes still gets the action that removes it`() {
    let calls = Calls()
    var zoo = Zoo()
    zoo.optional = Leaf()
    zoo.phase = .live(Leaf())
    zoo.rows.append(Leaf(), id: 1)
    let store = Store(initialState: zoo, lane: DirectLane()) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, action in
          switch action {
          case .optional: state.optional = nil
          case .phase: state.phase = .idle
          case .rows(let element): state.rows.remove(id: element.id)
          default: break
          }
          return .none
        }
        .ifLet(\.optional, action: \.optional) { Noting(name: "optional", calls: calls) }
        .ifCaseLet(\.phase, case: \.live, action: \.phase) { Noting(name: "phase", calls: calls) }
        .forEach(\.rows, action: \.rows) { Noting(name: "row", calls: calls) }
      }
    }
    store.send(.optional(.ignored))
    store.send(.phase(.ignored))
    store.send(.rows(ElementAction(id: 1, action: .ignored)))
    #expect(calls.taken() == ["optional", "phase", "row"])
    #expect(store.actionsWithoutChild == 0)
    #expect(store.state == Zoo())
  }

  @Test func `conditions in a body are evaluated when the store is made`() {
    func count(isLoud: Bool, steps: Int) -> Int {
      let store = Store(initialState: Leaf(), lane: DirectLane()) {
        ReducerSteps<Leaf, LeafFeature.Action>.make {
          if isLoud {
            Reduce { state, _ in
              state.count += 100
              return .none
            }
          } else {
            EmptyReducer()
          }
          for step in 0..<steps {
            Reduce { state, _ in
              state.count += step
              return .none
            }
          }
          if steps > 2 { LeafFeature() }
        }
      }
      store.send(.counted(1000))
      return store.state.count
    }
    #expect(count(isLoud: true, steps: 3) == 1103)
    #expect(count(isLoud: false, steps: 2) == 1)
  }

  @Test func `onChange reacts only to changes of its field by the current action`() {
    let calls = Calls()
    let store = Store(initialState: Zoo(), lane: DirectLane(), notification: .batched) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, action in
          if case .changed(let change) = action { change(&state) }
          return .none
        }
        .onChange(of: \.number) { state, _ in
          calls.record("\(state.number)")
          return .none
        }
      }
    }
    let observer = store.observe(\.number) { calls.record("observer") }
    store.send(.changed { $0.number = 5 })
    store.send(.changed { $0.text = "x" })
    store.send(.changed { $0.number = 5 })
    #expect(calls.taken() == ["5"])
    store.deliverChanges()
    #expect(calls.taken() == ["observer"], "the recorded change for the observers is kept")
    _ = observer
  }

  @Test func `the effect of onChange follows the effect of the action`() {
    let store = Store(initialState: Zoo(), lane: DirectLane()) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, action in
          switch action {
          case .changed(let change):
            change(&state)
            return .send(.child(.named("a")))
          case .child(.named(let name)): state.text += name
          default: break
          }
          return .none
        }
        .onChange(of: \.number) { _, _ in .send(.child(.named("b"))) }
        .onChange(of: \.number) { old, new, _, _ in .send(.child(.named("\(old)\(new)"))) }
      }
    }
    store.change { $0.number = 5 }
    #expect(store.state.text == "ab05")
    store.change { $0.list = [1] }
    #expect(store.state.text == "ab05a")
  }

  @Test func `a composition can be reduced directly and runs its parts in order`() {
    var zoo = Zoo()
    zoo.optional = Leaf()
    let feature = ZooFeature()
    #expect(feature.reduce(into: &zoo, action: .child(.counted(2))).isNone)
    #expect(feature.reduce(into: &zoo, action: .optional(.named("x"))).isNone)
    #expect(!feature.reduce(into: &zoo, action: .optional(.slept(id: 1))).isNone)
    #expect(
      !feature.reduce(into: &zoo, action: .rows(ElementAction(id: 1, action: .ignored))).isNone)
    #expect(zoo.child.count == 2 && zoo.optional?.name == "x")
  }

  @Test func `a parent runs a child's reducer directly`() {
    var zoo = Zoo()
    let effect = LeafFeature().reduce(into: &zoo.child, action: .counted(2))
      .map(ZooFeature.Action.child)
    #expect(effect.isNone && zoo.child.count == 2)
  }

  @Test func `actions are counted by kind along the tree`() {
    let store = ZooStore.make()
    store.send(.child(.counted(1)))
    store.send(.child(.counted(1)))
    store.send(.child(.ignored))
    store.change { $0.rows.append(Leaf(), id: 1) }
    store.send(.rows(ElementAction(id: 1, action: .named("x"))))
    let counts = store.actionsByKind.map { "\($0.kind) \($0.count)" }
    #expect(counts == ["changed 1", "child.counted 2", "child.ignored 1", "rows.named 1"])
    #expect(store.actionCount == 5)
  }
}

/// A reducer that records that it ran.
private struct Noting: Reducer {
  typealias Prepared = CountingReducer<Noting>
  typealias State = Leaf
  let name: String
  let calls: Calls

  func reduce(into state: inout Leaf, action: LeafFeature.Action) -> Effect<LeafFeature.Action> {
    calls.record(name)
    return .none
  }
}
