import Composable
import ComposableTesting
import Testing

/// Tests access to enums by the names of their cases.
struct CaseAccessTests {
  @Test func `a case can be tested, read and changed`() {
    var phase: Phase? = .live(Leaf(count: 1))
    #expect(phase?.is(\.live) == true && phase?.is(\.idle) == false)
    #expect(phase?[case: \.live]?.count == 1 && phase?[case: \.failed] == nil)
    phase?[case: \.live]?.count = 2
    phase?[case: \.failed]? += "!"
    #expect(phase == .live(Leaf(count: 2)))
    phase?[case: \.failed] = "lost"
    #expect(phase == .failed("lost"))
    phase?[case: \.failed] = nil
    #expect(phase == .failed("lost"))
    #expect(phase?.modify(\.failed) { $0.removeFirst() } == "l" && phase == .failed("ost"))
    #expect(phase?.modify(\.live) { $0.count = 9 } == nil)
  }

  @Test func `a change inside a payload is recorded as a change of only this payload`() {
    let store = Store.mutable(Home(phase: .live(Leaf())))
    let calls = Calls()
    let observer = store.place.child(\.phase).observeAll { fields in
      calls.record(fields == FieldSet(field: 1) ? "live" : "\(fields.rawValue)")
    }
    store.send(Mutation { $0.phase.modify(\.live) { $0.count += 1 } })
    #expect(calls.taken() == ["live"])
    store.send(Mutation { $0.phase[case: \.live]?.count += 1 })
    #expect(calls.taken() == ["live"])
    store.send(Mutation { $0.phase.modify(\.live) { $0.count += 0 } })
    #expect(calls.taken() == [])
    _ = observer
  }

  @Test func `the initializer of Result runs an async closure and stores its value or error`() async
  {
    struct Offline: Error, Equatable {}
    let fetch = { (isOnline: Bool) async throws in
      if !isOnline { throw Offline() }
      return "pong"
    }
    let answer = await Result { try await fetch(true) }
    #expect((try? answer.get()) == "pong")
    let failure: Result<String, any Error> = await Result { try await fetch(false) }
    #expect(throws: Offline()) { try failure.get() }
  }
}

@ObservableState
private struct Home: Equatable, Sendable {
  var phase: Phase = Phase.idle
}
