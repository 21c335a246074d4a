import ComposableTesting
import TerminalCounter
import Testing

struct TerminalCounterTests {
  private let clock = TestClock()

  private func makeStore(count: Int = 0) -> TestStore<Counter.State, Counter.Action> {
    TestStore(initialState: Counter.State(count: count), clock: clock) { Counter(clock: clock) }
  }

  @Test func `plus and minus change the count`() async {
    let store = makeStore()
    await store.send(.plusTapped) { $0.count = 1 }
    await store.send(.minusTapped) { $0.count = 0 }
    await store.send(.minusTapped) { $0.count = -1 }
    await store.finish()
  }

  @Test func `the timer counts every second until it is stopped`() async {
    let store = makeStore()
    await store.send(.timerTapped) { $0.isTimerOn = true }
    clock.advance(by: .seconds(1))
    await store.receive(.timerTicked) { $0.count = 1 }
    clock.advance(by: .seconds(1))
    await store.receive(.timerTicked) { $0.count = 2 }
    await store.send(.timerTapped) { $0.isTimerOn = false }
    clock.advance(by: .seconds(10))
    await store.finish()
  }

  @Test func `the factors shown belong to the current count`() async {
    let store = makeStore(count: 360)
    await store.send(.factorsTapped)
    await store.receive(.factorsFound([2, 2, 2, 3, 3, 5])) { $0.factors = [2, 2, 2, 3, 3, 5] }
    #expect(store.state.line == "360 = 2 · 2 · 2 · 3 · 3 · 5")
    await store.send(.plusTapped) {
      $0.count = 361
      $0.factors = []
    }
    await store.finish()
  }

  @Test func `a new count cancels the search for the factors of the old count`() async {
    let store = TestStore(initialState: Counter.State(count: 15), clock: clock) { [clock] in
      Counter(clock: clock) { number in
        try await clock.sleep(for: .seconds(5))
        return [number]
      }
    }
    await store.send(.factorsTapped)
    clock.advance(by: .seconds(4))
    await store.send(.plusTapped) { $0.count = 16 }
    clock.advance(by: .seconds(10))
    await store.finish()
  }

  @Test(arguments: [(1, []), (2, [2]), (97, [97]), (1_001, [7, 11, 13]), (-4, [])])
  func `the factors of the count are found`(number: Int, factors: [Int]) async throws {
    #expect(try await primeFactors(of: number) == factors)
  }

  @Test func `keys of the terminal are translated to actions`() {
    #expect(Counter.Action(key: "+") == .plusTapped)
    #expect(Counter.Action(key: "-") == .minusTapped)
    #expect(Counter.Action(key: "t") == .timerTapped)
    #expect(Counter.Action(key: "f") == .factorsTapped)
    #expect(Counter.Action(key: "x") == nil)
  }

  @Test func `the drawn line shows that the timer runs`() {
    var state = Counter.State(count: 7)
    #expect(state.line == "7")
    state.isTimerOn = true
    #expect(state.line == "7 (timer on)")
  }
}
