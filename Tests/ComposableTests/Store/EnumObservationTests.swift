import Composable
import ComposableTesting
import Testing

/// Tests observers of enum states.
struct EnumObservationTests {
  let calls = Calls()

  private func makeStore() -> Store<Table, Mutation<Table>> {
    .mutable(Table())
  }

  @Test func `a new case of an enum is a change even if the payload is equal`() {
    let store = makeStore()
    let observers = [
      store.observe(\.seat) { calls.record("seat") },
      store.place.child(\.seat).observeAll { _ in calls.record("inside") },
    ]
    store.send(Mutation { $0.seat = .right(Leaf()) })
    #expect(calls.taken().sorted() == ["inside", "seat"])
    store.send(Mutation { _ in })
    #expect(calls.taken() == [])
    _ = observers
  }

  @Test func `changing the case of an enum in place is a change even if the payload is kept`() {
    let store = makeStore()
    let observer = store.observe(\.seat) { calls.record("seat") }
    store.send(Mutation { move(&$0.seat) })
    #expect(store.state.seat == .right(Leaf()) && calls.taken() == ["seat"])
    store.send(
      Mutation {
        move(&$0.seat)
        move(&$0.seat)
      })
    #expect(store.state.seat == .right(Leaf()))
    _ = calls.taken()
    store.send(Mutation { Seat.CaseLenses.Case_right.modify(&$0.seat) { $0.count += 1 } })
    #expect(calls.taken() == ["seat"])
    store.send(Mutation { Seat.CaseLenses.Case_right.modify(&$0.seat) { $0.count += 0 } })
    #expect(calls.taken() == [], "an access without a change is not a change")
    _ = observer
  }

  @Test func `an optional enum can appear, change its case and disappear`() {
    let store = makeStore()
    let observers = [
      store.observe(\.spare) { calls.record("spare") },
      store.observePresence(\.spare) { calls.record($0 ? "came" : "went") },
      store.place.child(\.spare).observeAll { _ in calls.record("inside") },
    ]
    store.send(Mutation { $0.spare = .left(Leaf()) })
    #expect(calls.taken().sorted() == ["came", "inside", "spare"])
    store.send(Mutation { $0.spare = .right(Leaf()) })
    #expect(calls.taken().sorted() == ["inside", "spare"])
    store.send(Mutation { $0.spare = .empty })
    #expect(calls.taken().sorted() == ["inside", "spare"])
    store.send(Mutation { $0.spare = nil })
    #expect(calls.taken().sorted() == ["inside", "spare", "went"])
    store.send(Mutation { $0.spare = nil })
    #expect(calls.taken() == [])
    _ = observers
  }

  @Test func `an enum that is the whole state is observed`() {
    let store = Store(initialState: Seat.left(Leaf()), lane: DirectLane()) {
      Reduce<Seat, Mutation<Seat>> { state, change in
        change.body(&state)
        return .none
      }
    }
    let observer = store.observeAll { fields in
      for (tag, name) in Seat._$caseNames.enumerated() where fields.contains(field: tag) {
        calls.record(name)
      }
    }
    store.send(Mutation { Seat.CaseLenses.Case_left.modify(&$0) { $0.count += 1 } })
    #expect(calls.taken() == ["left"])
    store.send(Mutation { _ in })
    #expect(calls.taken() == [])
    let all = Seat._$caseNames
    store.send(Mutation { $0 = .right(Leaf()) })
    #expect(calls.taken() == all, "the previous payload was removed")
    store.send(Mutation { move(&$0) })
    #expect(calls.taken() == all)
    store.send(Mutation { $0 = .empty })
    #expect(calls.taken() == all)
    store.send(Mutation { $0 = .pair(Leaf(), 1) })
    #expect(calls.taken() == all)
    _ = observer
  }
}

@ObservableState
private enum Seat: Equatable, Sendable {
  case empty
  case left(Leaf)
  case right(Leaf)
  case pair(Leaf, Int)
}

@ObservableState
private struct Table: Equatable, Sendable {
  var seat: Seat = Seat.left(Leaf())
  var spare: Seat?
}

private func move(_ seat: inout Seat) {
  switch seat {
  case .left(let leaf): seat = .right(leaf)
  case .right(let leaf): seat = .left(leaf)
  case .empty, .pair: break
  }
}
