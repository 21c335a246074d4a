import Composable
import ComposableTesting
import ControlFeature
import Foundation
import LiveEvents
import Synchronization
import TestSupport
import Testing

/// A controller that records the acts that it receives, and answers when the test calls it.
private final class ActingController: Sendable {
  private typealias Answer = CheckedContinuation<RequestOutcome, any Error>

  private let waiting = Mutex<[Int: Answer]>([:])
  /// The numbers of all requests that were sent, in order.
  let sent = Mutex<[Int]>([])

  var client: Controller {
    Controller(patience: { .seconds(5) }) { [self] request in
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { answer in
          sent.withLock { $0.append(request.number) }
          waiting.withLock { $0[request.number] = answer }
        }
      } onCancel: {
        waiting.withLock { $0.removeValue(forKey: request.number) }?
          .resume(throwing: CancellationError())
      }
    }
  }

  func answer(_ number: Int, _ outcome: RequestOutcome) {
    waiting.withLock { $0.removeValue(forKey: number) }?.resume(returning: outcome)
  }
}

@Suite struct ActTests {
  private typealias State = ControlFeature.State
  private typealias TestedStore = TestStore<State, ControlFeature.Action>

  private let clock = TestClock()
  private let controller = ActingController()

  private static let twitch = OfferedActs(
    platform: "twitch", source: "main", kinds: [.say, .delete, .ban])
  private static let owncast = OfferedActs(platform: "owncast", source: "own", kinds: [.say])

  private func makeStore(_ requests: Requests = Requests(acting: [twitch])) -> TestedStore {
    var state = State()
    state.requests = requests
    let dependencies = Dependencies.test(clock: clock).overriding(controller.client)
    return TestStore(initialState: state, clock: clock) {
      ControlFeature(dependencies: dependencies)
    }
  }

  private static func delete(
    _ message: Text = "m1", platform: Text? = nil, source: Text? = nil
  ) throws -> RequestedAct {
    RequestedAct(
      try PlatformAct(.delete, message: message), platform: platform, source: source, by: "bob")
  }

  private static func say(platform: Text? = nil, source: Text? = nil) throws -> RequestedAct {
    RequestedAct(try PlatformAct(.say, text: "hello"), platform: platform, source: source)
  }

  /// The request for an act that went to the controller of `twitch`.
  private static func request(_ number: Int, _ act: RequestedAct) -> ControlRequest {
    var act = act
    (act.platform, act.source) = ("twitch", "main")
    return ControlRequest(number: number, command: .act(act), controller: 1)
  }

  private static func ended(
    _ number: Int, _ act: RequestedAct, _ outcome: RequestOutcome
  ) -> Requests.EndedAct {
    Requests.EndedAct(
      number: number, act: request(number, act).command.act ?? act, outcome: outcome)
  }

  /// Requests an act, and expects that it is outstanding.
  private func begin(_ act: RequestedAct, _ number: Int, _ store: TestedStore) async {
    await store.send(.actRequested(act)) {
      $0.requests?.last = number
      $0.requests?.outstanding.append(Self.request(number, act))
    }
  }

  private func expectEnd(
    _ act: RequestedAct, _ outcome: RequestOutcome, _ store: TestedStore
  ) async {
    await store.receive(.delegate(.requestEnded(Self.request(1, act), outcome)))
  }

  // MARK: Outcomes

  @Test(arguments: [RequestOutcome.confirmed, .sent, .refused(reason: "too old")])
  func `an act is sent to a controller, and ends with the controller's outcome`(
    outcome: RequestOutcome
  ) async throws {
    let store = makeStore()
    let act = try Self.delete()
    await begin(act, 1, store)
    controller.answer(1, outcome)
    await store.receive(.answered(request: 1, outcome)) {
      $0.requests?.outstanding = []
      $0.requests?.endedActs = [Self.ended(1, act, outcome)]
    }
    await expectEnd(act, outcome, store)
    #expect(store.state.requests?.failures.isEmpty == true)
    #expect(controller.sent.withLock { $0 } == [1])
    await store.finish()
  }

  @Test
  func `an act that no controller answers ends after a time-out, and a late answer is ignored`()
    async throws
  {
    let store = makeStore()
    let act = try Self.delete()
    await begin(act, 1, store)
    clock.advance(by: .seconds(5))
    let outcome = RequestOutcome.refused(reason: "no answer")
    await store.receive(.answered(request: 1, outcome)) {
      $0.requests?.outstanding = []
      $0.requests?.endedActs = [Self.ended(1, act, outcome)]
    }
    await expectEnd(act, outcome, store)
    await store.send(.answered(request: 1, .confirmed))
    await store.finish()
  }

  @Test func `the outcome of an act is unknown if its controller leaves`() async throws {
    let store = makeStore()
    let act = try Self.delete()
    await begin(act, 1, store)
    let outcome = RequestOutcome.refused(reason: "the outcome is unknown: the source left")
    await store.send(.surface(.ended(controller: 1))) {
      $0.requests?.controllers = []
      $0.requests?.outstanding = []
      $0.requests?.endedActs = [Self.ended(1, act, outcome)]
    }
    await expectEnd(act, outcome, store)
    controller.answer(1, .confirmed)
    await store.finish()
  }

  @Test func `an outstanding act is not sent again after a restart, and its outcome is unknown`()
    async throws
  {
    let act = try Self.delete()
    var requests = Requests(acting: [Self.twitch])
    requests.last = 1
    requests.outstanding = [Self.request(1, act)]
    let store = makeStore(requests)
    let outcome = RequestOutcome.refused(reason: "the outcome is unknown: livehostd restarted")
    await store.send(.surface(.restarted)) {
      $0.requests?.controllers = []
      $0.requests?.outstanding = []
      $0.requests?.endedActs = [Self.ended(1, act, outcome)]
    }
    let lost = ControlRequest(
      number: 1, command: Self.request(1, act).command, controller: nil)
    await store.receive(.delegate(.requestEnded(lost, outcome)))
    await store.send(.surface(.began(controller: 1, controls: [], acts: Self.twitch))) {
      $0.requests?.controllers = Requests(acting: [Self.twitch]).controllers
    }
    #expect(controller.sent.withLock { $0 }.isEmpty)
    await store.finish()
  }

  @Test func `a newer act does not replace an older one, and a new controller receives neither`()
    async throws
  {
    let store = makeStore()
    let (first, second) = (try Self.delete("m1"), try Self.delete("m2"))
    await begin(first, 1, store)
    await begin(second, 2, store)
    await store.send(.surface(.began(controller: 2, controls: nil, acts: Self.twitch))) {
      $0.requests?.controllers.append(.init(number: 2, acts: Self.twitch))
    }
    #expect(store.state.requests?.outstanding.map(\.controller) == [1, 1])
    await store.skipInFlightEffects()
    #expect(controller.sent.withLock { $0 }.sorted() == [1, 2])
    await store.finish()
  }

  // MARK: Choice of the controller

  private func chosen(_ act: RequestedAct, _ requests: Requests) throws(Requests.ActRefusal) -> Int
  {
    try requests.controller(for: act).number
  }

  @Test func `an act goes to the controller of its platform that can carry out the act`() throws {
    let requests = Requests(acting: [Self.twitch, Self.owncast])
    #expect(try chosen(Self.delete(), requests) == 1)
    #expect(try chosen(Self.say(platform: "twitch"), requests) == 1)
    #expect(try chosen(Self.say(platform: "owncast"), requests) == 2)
    #expect(try chosen(Self.say(source: "own"), requests) == 2)
    #expect(throws: Requests.ActRefusal.noController) {
      try chosen(Self.delete(platform: "owncast"), requests)
    }
    #expect(throws: Requests.ActRefusal.noController) {
      try chosen(Self.say(platform: "kick"), requests)
    }
    #expect(throws: Requests.ActRefusal.noController) {
      try chosen(Self.say(platform: "twitch", source: "own"), requests)
    }
    #expect(throws: Requests.ActRefusal.severalControllers([Self.twitch, Self.owncast])) {
      try chosen(Self.say(), requests)
    }
  }

  @Test func `a controller of the act's platform has priority over a controller of any platform`()
    throws
  {
    let any = OfferedActs(source: "everywhere", kinds: [.say, .ban])
    let requests = Requests(acting: [any, Self.twitch])
    #expect(try chosen(Self.say(platform: "twitch"), requests) == 2)
    #expect(try chosen(Self.say(platform: "kick"), requests) == 1)
    #expect(throws: Requests.ActRefusal.severalControllers([any, Self.twitch])) {
      try chosen(Self.say(), requests)
    }
  }

  @Test func `of two controllers of one source, the last connected one receives acts`() throws {
    let requests = Requests(acting: [Self.twitch, Self.owncast, Self.twitch])
    #expect(try chosen(Self.delete(), requests) == 3)
    #expect(requests.offers == [Self.owncast, Self.twitch])
  }

  @Test func `a controller that names no acts receives none, even if it accepts all controls`()
    throws
  {
    var requests = Requests()
    requests.controllers = [.init(number: 1)]
    #expect(throws: Requests.ActRefusal.noController) { try chosen(Self.say(), requests) }
    #expect(requests.offers.isEmpty)
  }

  // MARK: Limits

  @Test func `a room has at most 64 acts without an outcome, and keeps the newest 16 that ended`()
    async throws
  {
    let store = makeStore()
    store.exhaustivity = .off
    let act = try Self.delete()
    for _ in 0..<Requests.maximumActs { await store.send(.actRequested(act)) }
    #expect(store.state.requests?.outstanding.count == 64)
    let full = try #require(store.state.requests)
    #expect(throws: Requests.ActRefusal.tooManyActs) { try chosen(act, full) }
    await store.send(.actRequested(act))
    #expect(store.state.requests?.outstanding.count == 64)
    try store.state.checkBounds()
    await store.send(.surface(.ended(controller: 1)))
    #expect(store.state.requests?.endedActs?.map(\.number) == Array(49...64))
    try store.state.checkBounds()
    await store.finish()
  }

  @Test func `a state that was saved before acts existed is restored`() throws {
    let old =
      #"{"surfaces":[{"number":1,"controls":["zoom"]}],"outstanding":[],"failures":{"entries":[]},"last":3}"#
    let requests = try JSONDecoder().decode(Requests.self, from: Data(old.utf8))
    #expect(requests.controllers == [.init(number: 1, controls: ["zoom"])])
    #expect(requests.endedActs == nil && requests.last == 3)
    let saved = try JSONEncoder().encode(requests)
    #expect(!String(decoding: saved, as: UTF8.self).contains("cts"))
  }

  // MARK: Everything at random

  /// Performs random steps, and replays the same events from random snapshots.
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func `every act ends exactly once and is sent at most once, whatever restarts or leaves`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let world = ActWorld()
    for _ in 0..<2_000 { try world.step(&random) }
    try world.end()
    #expect(world.begun.count > 100)
    #expect(world.sent == world.begun)
    #expect(world.ends == Dictionary(uniqueKeysWithValues: world.begun.map { ($0, 1) }))
    #expect(world.outcomesAfterRestart > 0 && world.outcomesAfterLeave > 0)
  }
}

/// A room with acts, whose effects and whose restarts the test performs.
private final class ActWorld {
  private(set) var state = ControlFeature.State()
  /// The state of the newest snapshot, and the actions after it, which the log contains.
  private var snapshot = ControlFeature.State()
  private var log: [ControlFeature.Action] = []
  private var connected: [Int] = []
  private var controllers = 0

  private(set) var begun: Set<Int> = []
  private(set) var sent: Set<Int> = []
  private(set) var ends: [Int: Int] = [:]
  private(set) var outcomesAfterRestart = 0
  private(set) var outcomesAfterLeave = 0

  private let feature = ControlFeature()
  private let offers = [
    OfferedActs(platform: "twitch", source: "a", kinds: [.say, .delete]),
    OfferedActs(platform: "owncast", source: "b", kinds: [.say]),
  ]

  /// The acts that have no outcome, by number.
  private func outstanding(_ state: ControlFeature.State) -> [Int: ControlRequest] {
    Dictionary(
      uniqueKeysWithValues: (state.requests?.outstanding ?? [])
        .filter { $0.command.act != nil }.map { ($0.number, $0) })
  }

  private func apply(_ action: ControlFeature.Action, isReplay: Bool = false) {
    let before = outstanding(state)
    _ = feature.reduce(into: &state, action: action)
    guard !isReplay else { return }
    log.append(action)
    let after = outstanding(state)
    for number in after.keys where before[number] == nil {
      begun.insert(number)
      // The room's effect sends a new act to the controller for which the state means it.
      let isConnected = after[number]?.controller.map(connected.contains) == true
      #expect(isConnected, "an act was meant for a controller that is not connected")
      #expect(sent.insert(number).inserted, "an act was sent twice")
    }
    for number in before.keys where after[number] == nil {
      ends[number, default: 0] += 1
      switch state.requests?.endedActs?.last(where: { $0.number == number })?.outcome {
      case .refused(ControlRequest.restarted): outcomesAfterRestart += 1
      case .refused(ControlRequest.actorLeft): outcomesAfterLeave += 1
      default: break
      }
    }
    // An act never goes to another controller.
    for (number, request) in after {
      if let earlier = before[number] { #expect(earlier.controller == request.controller) }
    }
  }

  func step(_ random: inout SplitMix64) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...7: try request(&random)
    case 8...12:
      // The outcome may be of an act that has ended, and may arrive twice.
      guard let last = state.requests?.last, last > 0 else { return }
      let number = Int.random(in: max(1, last - 8)...last, using: &random)
      let outcomes: [RequestOutcome] = [.confirmed, .sent, .refused(reason: "no answer")]
      apply(.answered(request: number, outcomes.randomElement(using: &random) ?? .sent))
    case 13, 14:
      guard connected.count < Requests.maximumControllers else { return }
      controllers += 1
      connected.append(controllers)
      apply(
        .surface(
          .began(
            controller: controllers, controls: Bool.random(using: &random) ? nil : [],
            acts: offers.randomElement(using: &random))))
    case 15, 16:
      guard let index = connected.indices.randomElement(using: &random) else { return }
      apply(.surface(.ended(controller: connected.remove(at: index))))
    case 17: (snapshot, log) = (try Self.saved(state), [])
    case 18: apply(.set(control: "zoom", value: 0.5))
    default: try restart()
    }
  }

  private func request(_ random: inout SplitMix64) throws {
    let platforms: [Text?] = [nil, "twitch", "owncast"]
    let act =
      if Bool.random(using: &random) {
        try PlatformAct(.say, text: "hello")
      } else {
        try PlatformAct(.delete, message: "m1")
      }
    apply(
      .actRequested(RequestedAct(act, platform: platforms.randomElement(using: &random) ?? nil)))
  }

  /// Restores the room from its snapshot and its log, and informs it of the restart.
  private func restart() throws {
    let before = state
    state = try Self.saved(snapshot)
    for action in log { apply(action, isReplay: true) }
    #expect(state.requests == before.requests, "the replay differs")
    connected = []
    controllers = 0
    apply(.surface(.restarted))
    #expect(outstanding(state).isEmpty, "an act survived a restart")
  }

  func end() throws { try restart() }

  private static func saved(_ state: ControlFeature.State) throws -> ControlFeature.State {
    try JSONDecoder().decode(ControlFeature.State.self, from: try JSONEncoder().encode(state))
  }
}

extension Requests {
  /// Creates the state of a room whose controllers accept no controls and can carry out these acts.
  fileprivate init(acting offers: [OfferedActs]) {
    self.init()
    controllers = offers.enumerated().map { index, acts in
      ConnectedController(number: index + 1, controls: [], acts: acts)
    }
  }
}
