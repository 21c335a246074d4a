import Composable
import ComposableTesting
import Testing

/// A feature that rolls a die, numbers the roll, and reports it a moment later.
@Reducer
private struct Dice {
  @ObservableState
  struct State: Equatable, Sendable {
    var number: UInt64 = 0
    var pips = 0
    var isShown = false
  }

  enum Action: Equatable, Sendable { case rolled, shown }

  let dependencies: Dependencies

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .rolled:
      state.number = dependencies.identifiers.next()
      state.pips = dependencies.randomness.next(in: 1...6)
      state.isShown = false
      return .run(name: "show") { [clock = dependencies.clock] send in
        try await clock.sleep(for: .seconds(1))
        send(.shown)
      }
    case .shown:
      state.isShown = true
      return .none
    }
  }
}

struct DependenciesTests {
  let clock = TestClock()

  @Test func `a feature behaves the same in every run if the test sets its dependencies`() async {
    let dependencies = Dependencies.test(
      clock: clock, identifiers: .counting(from: 7), randomness: Randomness { 0 })
    let store = TestStore(initialState: Dice.State(), clock: clock) {
      Dice(dependencies: dependencies)
    }
    await store.send(.rolled) {
      $0.number = 7
      $0.pips = 1
    }
    clock.advance(by: .seconds(1))
    await store.receive(.shown) { $0.isShown = true }
    await store.send(.rolled) {
      $0.number = 8
      $0.isShown = false
    }
    await store.skipInFlightEffects()
  }

  @Test func `using a dependency that the test did not set is a failure that names the dependency`()
    async
  {
    let dependencies = Dependencies.test()
    await expectFailure("The dependency 'identifiers' was used, but the test did not set it") {
      #expect(dependencies.identifiers.next() == 0)
    }
    await expectFailure("The dependency 'randomness' was used") {
      #expect(dependencies.randomness.next(in: 3...5) == 3)
    }
    await expectFailure("The dependency 'clock' was used") {
      try? await dependencies.clock.sleep(for: .seconds(1))
    }
  }

  @Test func `a test has to set only the dependencies that are used`() async {
    let dependencies = Dependencies.test(identifiers: .counting())
    #expect(dependencies.identifiers.next() == 1)
    #expect(dependencies.identifiers.next() == 2)
  }

  @Test func `a client is found by its type and can be overridden for a part of the feature tree`()
    async
  {
    var dependencies = Dependencies.live()
    #expect(dependencies[Greeter.self].greet() == "live")
    dependencies[Greeter.self] = Greeter { "set" }
    let part = dependencies.overriding(Greeter { "part" })
      .overriding(\.identifiers, with: .counting(from: 7))
    #expect(dependencies[Greeter.self].greet() == "set")
    #expect(part[Greeter.self].greet() == "part" && part.identifiers.next() == 7)
    let unset = Dependencies.test()
    await expectFailure("The dependency 'Greeter' was used, but the test did not set it") {
      #expect(unset[Greeter.self].greet() == "unset")
    }
    #expect(unset.overriding(Greeter { "test" })[Greeter.self].greet() == "test")
  }

  @Test func `calling an unset function of a client is a failure that names the function`() async {
    let upload: @Sendable (String, Int) -> Bool = unset("recorder.upload", returning: true)
    await expectFailure("The dependency 'recorder.upload' was used") {
      #expect(upload("file", 1), "the placeholder is returned so that the test continues")
    }
  }

  @Test func `seeded random numbers are determined by the seed and stay in range`() {
    let (one, same, other) = (Randomness.seeded(1), Randomness.seeded(1), Randomness.seeded(2))
    let numbers = (0..<100).map { _ in one.next(in: 1...6) }
    #expect(numbers == (0..<100).map { _ in same.next(in: 1...6) })
    #expect(numbers != (0..<100).map { _ in other.next(in: 1...6) })
    #expect(Set(numbers) == Set(1...6))
    #expect(Randomness { .max }.next(in: -5 ... -2) == -2)
    #expect(Randomness { 1 << 63 }.next(in: .min ... .max) == 0, "half of all numbers are below")
    // The first numbers of the published algorithm for the seed 1234567.
    let known = Randomness.seeded(1_234_567)
    #expect(
      (0..<2).map { _ in known.next() } == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973])
  }

  @Test func `live identifiers count from 1 and live time advances`() async throws {
    let live = Dependencies.live()
    #expect(live.identifiers.next() == 1 && live.identifiers.next() == 2)
    #expect((0..<100).allSatisfy { _ in (1...6).contains(live.randomness.next(in: 1...6)) })
    #expect(Set((0..<10).map { _ in live.randomness.next() }).count > 1)
    try await live.clock.sleep(for: .zero)
  }
}

private struct Greeter: DependencyValue {
  var greet: @Sendable () -> String

  static var live: Greeter { Greeter { "live" } }
  static var unset: Greeter { Greeter { "unset" } }
}
