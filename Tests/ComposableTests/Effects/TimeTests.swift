import Composable
import ComposableTesting
import Testing

struct TimeTests {
  let clock = TestClock()

  @Test func `a timer ticks at multiples of its interval`() {
    let store = makeStore { [clock] _ in
      .timer(every: .seconds(2), clock: clock) { .delivered($0) }.cancellable(id: "timer")
    }
    store.send(.pushed(0))
    clock.advance(by: .seconds(5))
    #expect(store.state.delivered == [1, 2])
    clock.advance(by: .seconds(1))
    #expect(store.state.delivered == [1, 2, 3])
    store.cancelEffects()
    clock.advance(by: .seconds(10))
    #expect(store.state.delivered == [1, 2, 3])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a timer that wakes late skips missed ticks and keeps to multiples of its interval`() {
    let (late, later) = (
      LateClock(clock: clock, delay: .milliseconds(300)),
      LateClock(clock: clock, delay: .milliseconds(5_500))
    )
    let store = makeStore { value in
      value == 0
        ? .timer(every: .seconds(2), clock: late) { .delivered($0) }
        : .timer(every: .seconds(2), clock: later) { .delivered(100 + $0) }
    }
    store.send(.pushed(0))
    clock.advance(by: .milliseconds(6_300))
    #expect(store.state.delivered == [1, 2, 3], "at 2.3, 4.3 and 6.3 seconds")
    store.cancelEffects()
    clock.lane.run()
    store.send(.pushed(1))
    clock.advance(by: .milliseconds(14_000))
    #expect(store.state.delivered.dropFirst(3) == [101, 104], "at 7.5 and 13.5 seconds")
    store.cancelEffects()
  }

  @Test func `a throttle runs the first effect immediately and the newest at the interval's end`() {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).throttle(id: "t", for: .seconds(1), clock: clock)
    }
    store.send(.pushed(1))
    #expect(store.state.delivered == [1])
    store.send(.pushed(2))
    store.send(.pushed(3))
    clock.advance(by: .milliseconds(999))
    #expect(store.state.delivered == [1])
    clock.advance(by: .milliseconds(1))
    #expect(store.state.delivered == [1, 3])
    #expect(store.runningEffects == 0)
    clock.advance(by: .seconds(3))
    store.send(.pushed(4))
    #expect(store.state.delivered == [1, 3, 4])
  }

  @Test func `a throttle can keep the oldest effect`() {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).throttle(id: "t", for: .seconds(1), clock: clock, latest: false)
    }
    for value in 1...4 { store.send(.pushed(value)) }
    clock.advance(by: .seconds(1))
    #expect(store.state.delivered == [1, 2])
  }

  @Test func `a throttle that keeps the oldest effect does so in each interval`() {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).throttle(id: "t", for: .seconds(1), clock: clock, latest: false)
    }
    for value in 1...3 { store.send(.pushed(value)) }
    clock.advance(by: .milliseconds(1_500))
    #expect(store.state.delivered == [1, 2])
    for value in 4...6 { store.send(.pushed(value)) }
    clock.advance(by: .milliseconds(500))
    #expect(store.state.delivered == [1, 2, 4])
    clock.advance(by: .milliseconds(999))
    store.send(.pushed(7))
    #expect(store.state.delivered == [1, 2, 4])
    clock.advance(by: .milliseconds(1))
    #expect(store.state.delivered == [1, 2, 4, 7])
    clock.advance(by: .seconds(1))
    store.send(.pushed(8))
    #expect(store.state.delivered == [1, 2, 4, 7, 8], "no effect arrived for an interval")
  }

  @Test func `throttles and debounces with different identifiers do not affect each other`() {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).throttle(id: value, for: .seconds(1), clock: clock)
    }
    for value in 0..<100 { store.send(.pushed(value)) }
    #expect(store.state.delivered == Array(0..<100))
    for value in 0..<100 { store.send(.pushed(value)) }
    #expect(store.state.delivered.count == 100)
    clock.advance(by: .seconds(1))
    #expect(store.state.delivered.count == 200)
  }

  @Test func `a debounce runs the newest effect after a pause`() {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).debounce(id: "d", for: .seconds(1), clock: clock)
    }
    for value in 1...3 {
      store.send(.pushed(value))
      clock.advance(by: .milliseconds(600))
    }
    #expect(store.state.delivered == [])
    clock.advance(by: .milliseconds(400))
    #expect(store.state.delivered == [3])
  }

  @Test(arguments: [[0], [0, 100], [0, 100, 200], [0, 100, 200, 300], [0, 290, 580]])
  func `a debounce delivers the last keystroke after a pause, for any timing of keystrokes`(
    times: [Int]
  ) {
    let store = makeStore { [clock] value in
      .send(.delivered(value)).debounce(id: "d", for: .milliseconds(300), clock: clock)
    }
    for time in times {
      clock.advance(to: TestClock.Instant(offset: .milliseconds(time)))
      store.send(.pushed(time))
    }
    clock.advance(by: .milliseconds(299))
    #expect(store.state.delivered == [])
    clock.advance(by: .milliseconds(1))
    #expect(store.state.delivered == [times[times.count - 1]])
    #expect(store.runningEffects == 0)
  }

  @Test(arguments: [false, true])
  func `cancelling an identifier also cancels an effect that a throttle or debounce holds back`(
    isThrottle: Bool
  ) {
    let store = makeStore { [clock] value in
      let effect = Effect<Limited.Action>.run { $0(.delivered(value)) }
      return
        switch value
      {
      case ..<0: .cancel(id: "all")
      case _ where isThrottle:
        effect.throttle(id: "t", for: .seconds(1), clock: clock).cancellable(id: "all")
      default: effect.debounce(id: "t", for: .seconds(1), clock: clock).cancellable(id: "all")
      }
    }
    store.send(.pushed(1))
    clock.advance(by: .zero)
    store.send(.pushed(2))
    store.send(.pushed(-1))
    clock.advance(by: .seconds(3))
    #expect(store.state.delivered == (isThrottle ? [1] : []))
    #expect(store.runningEffects == 0)
    store.send(.pushed(3))
    clock.advance(by: .seconds(3))
    #expect(store.state.delivered.last == 3)
  }

  @Test func `cancelling the identifier of a debounce drops the value that it holds back`() {
    let store = makeStore { [clock] value in
      value < 0
        ? .cancel(id: "d")
        : .send(.delivered(value)).debounce(id: "d", for: .seconds(1), clock: clock)
    }
    store.send(.pushed(1))
    store.send(.pushed(-1))
    clock.advance(by: .seconds(2))
    #expect(store.state.delivered == [])
    store.send(.pushed(2))
    clock.advance(by: .seconds(2))
    #expect(store.state.delivered == [2])
  }

  private func makeStore(
    _ effect: @escaping (Int) -> Effect<Limited.Action>
  ) -> Store<Limited.State, Limited.Action> {
    Store(initialState: Limited.State(), lane: clock.lane) { Limited(effect: effect) }
  }
}

/// A clock whose sleepers wake too late.
private struct LateClock: Clock {
  let clock: TestClock
  let delay: Duration

  var now: TestClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }

  func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline.advanced(by: delay), tolerance: tolerance)
  }
}

@Reducer
private struct Limited {
  @ObservableState
  struct State: Equatable, Sendable { var delivered: [Int] = [] }

  enum Action: Sendable {
    case pushed(Int)
    case delivered(Int)
  }

  let effect: (Int) -> Effect<Action>

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .pushed(let value): return effect(value)
    case .delivered(let value):
      state.delivered.append(value)
      return .none
    }
  }
}
