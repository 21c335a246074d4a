import Composable
import ComposableTesting
import Testing

/// An enum with trivial payloads only.
@ObservableState
private enum Progress: Equatable, Sendable {
  case idle
  case running(Int)
  case failed(code: Int, isFinal: Bool)
}

@ObservableState
private enum Single: Equatable, Sendable {
  case guest(Guest)
}

/// A feature whose whole state is an enum.
@Reducer
private struct Account {
  @ObservableState
  enum State: Equatable, Sendable {
    case signedOut(Leaf)
    case signedIn(Guest)
    case gone
  }

  enum Action: Sendable {
    case signedOut(LeafFeature.Action)
    case signedIn(GuestFeature.Action)
    case became(State)
  }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      if case .became(let new) = action { state = new }
      return .none
    }
    .ifCaseLet(\.signedOut, action: \.signedOut) { LeafFeature() }
    .ifCaseLet(\.signedIn, action: \.signedIn) { GuestFeature(clock: clock) }
  }
}

struct EnumStateTests {
  @Test func `an enum with trivial payloads can be a state`() {
    var progress = Progress.running(3)
    let token = progress._$enter(stamp: 5)
    let isSame = progress._$leave(token: token)
    #expect(!isSame, "a payload without change records counts as replaced")
    #expect(progress == .running(3))
    let changed = Progress.CaseLenses.Case_running.modify(&progress) { value in
      value += 1
      return value
    }
    #expect(changed == 4 && progress == .running(4))
    let other = Progress.CaseLenses.Case_idle.modify(&progress) { _ in 1 }
    #expect(other == nil && progress == .running(4))
    progress = .failed(code: 1, isFinal: false)
    _ = Progress.CaseLenses.Case_failed.modify(&progress) { $0.isFinal = true }
    #expect(progress == .failed(code: 1, isFinal: true))
    var single = Single.guest(Guest(id: 1))
    _ = Single.CaseLenses.Case_guest.modify(&single) { $0.replies = 2 }
    guard case .guest(let guest) = single else { return }
    #expect(guest.replies == 2)
  }

  @Test func `a whole feature may be an enum, with a child in each case`() {
    let lane = ManualLane()
    let store = Store(initialState: Account.State.signedOut(Leaf()), lane: lane) {
      Account(clock: TestClock(lane: lane))
    }
    store.send(.signedOut(.counted(2)))
    #expect(store.state == .signedOut(Leaf(count: 2, name: "")))
    store.send(.signedOut(.slept(id: 1)))
    store.send(.signedIn(.replied))
    #expect(store.actionsWithoutChild == 1 && store.runningEffects == 1)
    store.send(.became(.signedIn(Guest(id: 1))))
    #expect(store.runningEffects == 0)
    store.send(.signedIn(.waited))
    store.send(.became(.signedIn(Guest(id: 1))))
    #expect(store.runningEffects == 1, "the guest is the same")
    store.send(.became(.signedIn(Guest(id: 2))))
    #expect(store.runningEffects == 0)
    store.send(.became(.gone))
    #expect(store.state == .gone)
  }
}
