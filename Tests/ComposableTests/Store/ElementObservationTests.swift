import Composable
import ComposableTesting
import Testing

struct ElementObservationTests {
  let calls = Calls()

  func makeStore(_ notification: ZooStore.Notification = .immediate) -> ZooStore {
    var zoo = Zoo()
    for id in 0..<3 { zoo.rows.append(Leaf(), id: id) }
    return ZooStore.make(zoo, notification)
  }

  @Test func `a handle changes its element and notifies only its observer`() throws {
    let store = makeStore()
    let handles = try (0..<3).map {
      try #require(store.scope(state: \.rows, id: $0, action: \.rows))
    }
    let observers = handles.enumerated().map { index, handle in
      handle.place.observe(\.count) { calls.record("\(index)") }
    }
    handles[1].send(.counted(2))
    #expect(calls.taken() == ["1"])
    #expect(handles[1].state?.count == 2 && handles[0].state?.count == 0)
    handles[1].send(.ignored)
    store.change { $0.rows[id: 2]?.name = "x" }
    #expect(calls.taken() == [])
    store.change { $0.rows[id: 2] = Leaf() }
    #expect(calls.taken() == ["2"], "all fields of a replaced element count as changed")
    _ = observers
  }

  @Test
  func `the observer of a removed element is notified once more, but not of a later element`()
    throws
  {
    let store = makeStore()
    let handle = try #require(store.scope(state: \.rows, id: 1, action: \.rows))
    let observer = handle.place.observe(\.count) { calls.record("1") }
    store.change { $0.rows.remove(id: 1) }
    #expect(calls.taken() == ["1"])
    store.change { $0.rows.append(Leaf(), id: 9) }
    store.send(.rows(ElementAction(id: 9, action: .counted(1))))
    #expect(calls.taken() == [])
    #expect(handle.state == nil)
    handle.send(.counted(1))
    #expect(store.actionsWithoutChild == 1)
    _ = observer
  }

  @Test func `a handle does not reach a later element with the same key`() throws {
    let store = makeStore()
    let handle = try #require(store.scope(state: \.rows, id: 1, action: \.rows))
    store.change {
      $0.rows.remove(id: 1)
      $0.rows.append(Leaf(), id: 1)
    }
    #expect(handle.state == nil)
    handle.send(.counted(1))
    #expect(store.state.rows[id: 1]?.count == 0)
    #expect(store.actionsWithoutChild == 1)
  }

  @Test func `a handle finds its element in a replaced collection`() throws {
    let store = makeStore()
    let handles = try [0, 2].map {
      try #require(store.scope(state: \.rows, id: $0, action: \.rows))
    }
    store.change { zoo in
      var rows = KeyedCollection<Int, Leaf>()
      rows.append(Leaf(count: 5), id: 5)
      rows.append(Leaf(count: 2), id: 2)
      zoo.rows = rows
    }
    for handle in handles { handle.send(.counted(10)) }
    #expect(handles.map { $0.state?.count } == [nil, 12])
    #expect(store.actionsWithoutChild == 1)
    let observers = handles.map { handle in handle.place.observe(\.count) { calls.record("told") } }
    store.send(.rows(ElementAction(id: 5, action: .counted(1))))
    #expect(calls.taken() == [])
    handles[1].send(.counted(1))
    #expect(calls.taken() == ["told"])
    _ = observers
  }

  @Test func `an element added in the batch that removes another has observers of its own`()
    throws
  {
    let store = makeStore(.batched)
    let old = try #require(store.scope(state: \.rows, id: 1, action: \.rows))
    let oldObserver = old.place.observe(\.count) { calls.record("old") }
    store.change {
      $0.rows.remove(id: 1)
      $0.rows.append(Leaf(), id: 9)
    }
    let new = try #require(store.scope(state: \.rows, id: 9, action: \.rows))
    let newObserver = new.place.observe(\.count) { calls.record("new") }
    store.deliverChanges()
    #expect(calls.taken() == ["old"], "the observer is called one last time")
    #expect(oldObserver.isCancelled && !newObserver.isCancelled)
    new.send(.counted(1))
    store.deliverChanges()
    #expect(calls.taken() == ["new"])
  }

  @Test func `a replaced collection keeps the observers of keys that still exist`()
    throws
  {
    let store = makeStore()
    let handles = try [0, 2].map {
      try #require(store.scope(state: \.rows, id: $0, action: \.rows))
    }
    let observers = handles.map { handle in handle.place.observe(\.count) { calls.record("told") } }
    store.change { zoo in
      var rows = KeyedCollection<Int, Leaf>()
      rows.append(Leaf(), id: 5)
      rows.append(Leaf(), id: 2)
      zoo.rows = rows
    }
    #expect(calls.taken().count == 2)
    store.send(.rows(ElementAction(id: 2, action: .counted(1))))
    #expect(calls.taken().count == 1)
    store.send(.rows(ElementAction(id: 5, action: .counted(1))))
    #expect(calls.taken() == [])
    _ = observers
  }

  @Test
  func `lists of changes contain added, removed and changed elements, but none that was only read`()
  {
    let store = makeStore()
    var lists: [[KeyedChanges<Int>]] = []
    let observer = store.place.child(\.rows).observeElements { lists.append($0) }
    store.change { zoo in
      zoo.rows.append(Leaf(), id: 7)
      zoo.rows.remove(id: 0)
      zoo.rows.modify(id: 1) { $0.count += 1 }
      zoo.rows.modify(id: 2) { _ in }
    }
    #expect(lists.count == 1 && lists[0].count == 1)
    let changes = lists[0][0]
    #expect(changes.inserted.map(\.id) == [7])
    #expect(changes.removed.map(\.id) == [0])
    #expect(changes.updated.map(\.id) == [1])
    store.change { $0.rows.modify(id: 2) { _ in } }
    #expect(lists.count == 1)
    store.change { $0.rows.modify(id: 2) { $0.count = 5 } }
    #expect(lists.count == 2 && lists[1][0].updated.map(\.id) == [2])
    observer.cancel()
    store.change { $0.rows.modify(id: 2) { $0.count = 6 } }
    #expect(lists.count == 2)
  }
}
