import Composable
import ComposableTesting
import Foundation
import Testing

// The code of the article "Shared state". ``ArticleTests`` compares both.

struct Settings: Codable, Equatable, Sendable {
  var volume = 5
  var isMuted = false
}

@Reducer
struct Player {
  @ObservableState
  struct State: Equatable, Sendable {
    var title = ""
    var settings = Settings()
  }

  enum Action: Equatable, Sendable {
    case louderTapped
    case muteTapped
    case settings(SharedAction<Settings>)
  }

  let settings: Shared<Settings>

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .louderTapped: settings.change(&state.settings) { $0.volume += 1 }
      case .muteTapped: state.settings.isMuted.toggle()
      case .settings: break
      }
      return .none
    }
    .sharing(\.settings, with: settings, action: \.settings)
  }
}

func makeSettings(in directory: URL, say: @escaping @Sendable (String) -> Void) throws
  -> Shared<Settings>
{
  try Shared(file: directory.appending(path: "settings.json").path, initial: Settings()) { error in
    say("settings are not saved: \(error)")
  }
}

struct SharedStateTests {
  private let settings = Shared(Settings(), merging: \.volume, \.isMuted)

  @Test func `a change of a shared value by another feature arrives as an action`() async {
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.settings(.join))
    settings.change { $0.volume = 9 }
    await store.receive(\.settings.changed) { $0.settings.volume = 9 }
    await store.send(.settings(.leave))
    await store.finish()
  }

  @Test func `a reducer's change of a shared value reaches the other features`() async {
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.muteTapped) { $0.settings.isMuted = true }
    await store.send(.louderTapped) { $0.settings.volume = 6 }
    #expect(settings.value == Settings(volume: 6, isMuted: true))
  }

  // The end of the article's code.

  @Test
  func `a feature that joins a shared value gets the current value and its own changes as actions`()
    async
  {
    settings.change { $0.volume = 2 }
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.settings(.join)) { $0.settings.volume = 2 }
    await store.send(.muteTapped) { $0.settings.isMuted = true }
    await store.receive(\.settings.changed)
    await store.send(.settings(.leave))
    settings.change { $0.volume = 3 }
    await store.finish()
  }

  @Test func `assigning an equal value to shared state is not a change`() async {
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.settings(.join))
    settings.change { $0.volume = 5 }
    #expect(store.lane.isIdle)
    await store.send(.settings(.leave))
    await store.finish()
  }

  @Test func `a feature that joins a shared value twice receives each change once`() async {
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.settings(.join))
    await store.send(.settings(.join))
    settings.change { $0.volume = 9 }
    await store.receive(\.settings.changed) { $0.settings.volume = 9 }
    await store.send(.settings(.leave))
    await store.finish()
  }

  @Test func `a received change that the feature has overwritten since is dropped`() async {
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.settings(.join))
    store.exhaustivity = .off
    settings.change { $0.volume = 1 }
    store.lane.run()
    await store.send(.louderTapped) { $0.settings.volume = 2 }
    await store.skipReceivedActions(strict: false)
    #expect(store.state.settings.volume == 2)
    await store.skipInFlightEffects()
  }

  @Test func `a change of a shared value that bypasses the state during an action is kept`()
    async
  {
    let store = TestStore(initialState: Player.State()) { MutedPlayer(settings: settings) }
    await store.send(.louderTapped) { $0.settings = Settings(volume: 6, isMuted: true) }
    #expect(settings.value == Settings(volume: 6, isMuted: true))
  }

  @Test func `a feature that has not joined a shared value changes its current value`() async {
    settings.change { $0.volume = 9 }
    let store = TestStore(initialState: Player.State()) { Player(settings: settings) }
    await store.send(.muteTapped) { $0.settings = Settings(volume: 9, isMuted: true) }
    #expect(settings.value == Settings(volume: 9, isMuted: true))
  }

  @Test
  func `a direct assignment to shared state is shared together with a change in the same action`() {
    let both = Settings(volume: 6, isMuted: true)
    let before = settings { state, shared in
      state.settings.isMuted = true
      shared.change(&state.settings) { $0.volume += 1 }
    }
    #expect(before == both)
    let after = settings { state, shared in
      shared.change(&state.settings) { $0.volume += 1 }
      state.settings.isMuted = true
    }
    #expect(after == both)
    let beside = settings { state, shared in
      state.settings.isMuted = true
      shared.change { $0.volume += 1 }
    }
    #expect(beside == both)
  }

  @Test func `the last assigned value is shared, even if it equals the first one`() {
    let restored = settings { state, shared in
      let old = state.settings
      shared.change(&state.settings) { $0.volume += 1 }
      state.settings = old
    }
    #expect(restored == Settings())
    #expect(settings { _, shared in shared.change { $0.volume += 1 } } == Settings(volume: 6))
  }

  @Test func `concurrent assignments to different fields are merged`() {
    let write: Write = { state, shared in
      state.settings.isMuted = true
      elsewhere { shared.change { $0.volume = 9 } }
    }
    #expect(settings(after: write) == Settings(volume: 9, isMuted: true))
    let whole = Shared(Settings())
    #expect(settings(of: whole, after: write) == Settings(isMuted: true))
    #expect(whole.overwrites == 1)
  }

  private typealias Write = (inout Player.State, Shared<Settings>) -> Void

  /// Applies a reducer to a shared value and returns the value, which the store must also have.
  private func settings(
    of settings: Shared<Settings> = Shared(Settings(), merging: \.volume, \.isMuted),
    after write: @escaping Write
  ) -> Settings {
    let store = Store(initialState: Player.State(), lane: ManualLane()) {
      ReducerSteps<Player.State, Player.Action>.make {
        Reduce { state, action in
          if action == .muteTapped { write(&state, settings) }
          return .none
        }
        .sharing(\.settings, with: settings, action: \.settings)
      }
    }
    store.send(.muteTapped)
    #expect(store.state.settings == settings.value)
    return settings.value
  }

  @Test func `two stores on different lanes end with the same value, and no change is lost`()
    async
  {
    let settings = settings
    let lanes = [SerialLane(label: "one"), SerialLane(label: "two")]
    let boxes = [StoreBox(), StoreBox()]
    for (lane, box) in zip(lanes, boxes) {
      await lane.run {
        box.store = Store(initialState: Player.State(), lane: lane) { Player(settings: settings) }
        box.store?.send(.settings(.join))
      }
    }
    await withTaskGroup { group in
      for (lane, box) in zip(lanes, boxes) {
        group.addTask {
          for _ in 0..<500 { await lane.run { box.store?.send(.louderTapped) } }
        }
      }
    }
    #expect(settings.value.volume == 1_005)
    for (lane, box) in zip(lanes, boxes) {
      // The newest value is still being delivered to both stores.
      while await lane.run({ box.store?.state.settings }) != settings.value { await Task.yield() }
      await lane.run { box.store = nil }
    }
  }

  @Test func `a removed child receives no further changes of a shared value`() async {
    let settings = settings
    let store = TestStore(initialState: Bus.State(player: Player.State())) {
      Bus(settings: settings)
    }
    await store.send(.player(.settings(.join)))
    settings.change { $0.volume = 1 }
    await store.receive(\.player.settings.changed) { $0.player?.settings.volume = 1 }
    await store.send(.playerRemoved) { $0.player = nil }
    settings.change { $0.volume = 2 }
    await store.finish()
  }

  @Test func `features are notified of a shared change in the order in which they joined`() {
    let (lane, calls) = (ManualLane(), Calls())
    let stores = (0..<8).map { number in
      let store = Store(initialState: Player.State(), lane: lane) { Player(settings: settings) }
      store.onAction { if case .settings(.changed) = $0 { calls.record("\(number)") } }
      return store
    }
    withExtendedLifetime(stores) {
      for store in stores.reversed() { store.send(.settings(.join)) }
      lane.run()
      settings.change { $0.volume = 1 }
      lane.run()
    }
    #expect(calls.taken() == (0..<8).reversed().map { "\($0)" })
  }

  @Test func `all features end with the same shared value after random changes`() {
    let randomness = Randomness.seeded(1)
    for round in 0..<500 {
      let settings = Shared(Settings())
      let lanes = (0..<3).map { _ in ManualLane() }
      let stores = lanes.map { lane in
        Store(initialState: Player.State(), lane: lane) { Player(settings: settings) }
      }
      var isJoined = [false, false, false]
      for step in 0..<40 {
        let index = randomness.next(in: 0...2)
        switch randomness.next(in: 0...6) {
        case 0:
          stores[index].send(.settings(.join))
          isJoined[index] = true
        case 1:
          stores[index].send(.settings(.leave))
          isJoined[index] = false
        case 2: stores[index].send(.muteTapped)
        case 3: stores[index].send(.louderTapped)
        case 4: settings.change { $0.volume = step }
        default: lanes[index].run()
        }
      }
      for lane in lanes { lane.run() }
      for (store, isJoined) in zip(stores, isJoined) where isJoined {
        #expect(store.state.settings == settings.value, "round \(round)")
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a shared value is an asynchronous sequence that begins with the current value`()
    async
  {
    var values = settings.values().makeAsyncIterator()
    #expect(await values.next()?.volume == 5)
    settings.change { $0.volume = 6 }
    #expect(await values.next()?.volume == 6)
  }

  @Test(.timeLimit(.minutes(1)))
  func `asynchronous sequences of a shared value end when the value is released`() async {
    var gone: Shared<Settings>? = Shared(Settings())
    var values = gone?.values().makeAsyncIterator()
    #expect(await values?.next()?.volume == 5)
    gone = nil
    #expect(await values?.next() == nil)
  }
}

/// A player that is muted by another thread while its volume is increased.
@Reducer
private struct MutedPlayer {
  typealias State = Player.State
  typealias Action = Player.Action

  let settings: Shared<Settings>

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      guard case .louderTapped = action else { return .none }
      settings.change(&state.settings) { $0.volume += 1 }
      settings.change { $0.isMuted = true }
      return .none
    }
    .sharing(\.settings, with: settings, action: \.settings)
  }
}

/// A feature with the player as a child.
@Reducer
private struct Bus {
  @ObservableState
  struct State: Equatable, Sendable {
    var player: Player.State?
  }

  enum Action: Equatable, Sendable {
    case player(Player.Action)
    case playerRemoved
  }

  let settings: Shared<Settings>

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      if case .playerRemoved = action { state.player = nil }
      return .none
    }
    .ifLet(\.player, action: \.player) { Player(settings: settings) }
  }
}

struct SharedFileTests {
  private let directory = URL.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)")
  private let failures = Transcript()

  init() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  private func make() throws -> Shared<Settings> {
    try makeSettings(in: directory) { [failures] in failures.add($0) }
  }

  @Test func `a shared value in a file is read at the next start`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let settings = try make()
    #expect(settings.value == Settings())
    for volume in 0...100 { settings.change { $0.volume = volume } }
    await settings.flush()
    #expect(try make().value.volume == 100)
    #expect(failures.lines == [])
  }

  @Test func `two shared values with the same file are one value`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (first, second) = (try make(), try make())
    first.change { $0.volume = 1 }
    second.change { $0.isMuted = true }
    #expect(first.value == Settings(volume: 1, isMuted: true))
    let link = directory.appending(path: "link.json")
    await first.flush()
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: directory.appending(path: "settings.json"))
    let third = try Shared(file: link.path, initial: Settings()) { _ in }
    #expect(third.value == first.value)
    #expect(throws: SharedFileError.self) { try Shared(file: link.path, initial: 1) { _ in } }
    third.change { $0.volume = 2 }
    #expect(second.value.volume == 2)
  }

  @Test func `a shared value that is reopened includes writes still pending`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    for volume in 1...20 {
      var settings: Shared<Settings>? = try make()
      #expect(settings?.value.volume == (volume == 1 ? 5 : volume - 1))
      settings?.change { $0.volume = volume }
      settings = nil
    }
    #expect(failures.lines == [])
  }

  @Test func `a damaged file of a shared value is an error`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try Data("{".utf8).write(to: directory.appending(path: "settings.json"))
    #expect(throws: (any Error).self) { try make() }
  }

  @Test func `an error while writing a shared value's file is reported, and the value stays`()
    async throws
  {
    let settings = try make()
    try FileManager.default.removeItem(at: directory)
    settings.change { $0.volume = 7 }
    await settings.flush()
    #expect(failures.lines.count == 1)
    #expect(settings.value.volume == 7)
    await Shared(1).flush()
  }
}

/// Accessed only on its lane.
private final class StoreBox: @unchecked Sendable {
  var store: Store<Player.State, Player.Action>?
}
