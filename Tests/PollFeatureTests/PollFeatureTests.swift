import ComposableTesting
import LiveEvents
import PollFeature
import Testing

@Suite struct PollFeatureTests {
  private let question = PollQuestion(
    id: "p1", title: "Which map?", options: ["old", "new"], endsAt: 31_000)

  @Test func `a poll opens, receives votes, and ends with a winner`() async {
    let store = TestStore(initialState: PollFeature.State()) { PollFeature() }
    await store.send(.began(question, at: 1_000)) {
      $0.id = "p1"
      $0.title = "Which map?"
      $0.options = [.init(title: "old"), .init(title: "new")]
      $0.isOpen = true
      $0.endsAt = 31_000
      $0.secondsLeft = 30
    }
    await store.send(.voted([3, 4])) {
      $0.options = [.init(title: "old", votes: 3), .init(title: "new", votes: 4)]
    }
    await store.send(.ticked(at: 1_500))
    await store.send(.ticked(at: 3_000)) { $0.secondsLeft = 28 }
    await store.send(.voted([9, 4])) { $0.options[0].votes = 9 }
    await store.send(.ended(winner: 0)) {
      $0.isOpen = false
      $0.winner = 0
      $0.secondsLeft = nil
    }
    // The remaining time of an ended poll does not change.
    await store.send(.ticked(at: 4_000))
    await store.finish()
  }

  @Test func `a new poll keeps nothing of the previous one`() async {
    let store = TestStore(initialState: PollFeature.State()) { PollFeature() }
    store.exhaustivity = .off
    await store.send(.began(question, at: 1_000))
    await store.send(.voted([3, 4]))
    await store.send(.ended(winner: 1))
    await store.send(.began(PollQuestion(id: "p2", title: "", options: ["yes"]), at: 2_000))
    var expected = PollFeature.State()
    expected.id = "p2"
    expected.options = [.init(title: "yes")]
    expected.isOpen = true
    #expect(store.state == expected)
    await store.finish()
  }

  @Test func `a poll requests ticks only while it is open and counts down`() {
    var state = PollFeature.State()
    func isCounting(_ action: PollFeature.Action) -> Bool {
      _ = PollFeature().reduce(into: &state, action: action)
      return state.isCountingDown
    }
    #expect(!isCounting(.ticked(at: 0)))
    #expect(isCounting(.began(question, at: 1_000)))
    #expect(!isCounting(.ticked(at: 31_000)))
    #expect(state.secondsLeft == 0)
    #expect(isCounting(.began(question, at: 1_000)))
    #expect(!isCounting(.ended(winner: nil)))
    #expect(!isCounting(.began(PollQuestion(id: "p", title: "", options: ["a"]), at: 0)))
  }

  @Test func `totals with another number of options change only the options that exist`() {
    var state = PollFeature.State()
    _ = PollFeature().reduce(into: &state, action: .began(question, at: 0))
    _ = PollFeature().reduce(into: &state, action: .voted([1, 2, 3]))
    #expect(state.options.map(\.votes) == [1, 2])
    _ = PollFeature().reduce(into: &state, action: .voted([5]))
    #expect(state.options.map(\.votes) == [5, 2])
  }

  @Test(arguments: [Int64.min, .max])
  func `extreme timestamps neither crash a poll nor end it early`(time: Timestamp) {
    var state = PollFeature.State()
    var question = question
    question.endsAt = time
    _ = PollFeature().reduce(into: &state, action: .began(question, at: ~time))
    #expect(state.secondsLeft == nil || state.secondsLeft == 0)
    _ = PollFeature().reduce(into: &state, action: .ticked(at: time))
    #expect(state.secondsLeft == 0)
  }
}
