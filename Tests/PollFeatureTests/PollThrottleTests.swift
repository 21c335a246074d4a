import LiveEvents
import PollFeature
import RateLimiting
import TestSupport
import Testing
import Throttling

@Suite struct PollThrottleTests {
  /// A poll throttle on virtual time, with its output.
  private struct Run {
    var throttle = PollThrottle()
    var output = ThrottleOutput<PollFeature.Action>()
    var received = 0

    /// Returns the actions caused by an event.
    ///
    /// This function is not inlined: if the result is unused, Swift 6.3 would free the copy before
    /// filling it.
    @inline(never)
    mutating func receive(_ event: PollEvent, at time: Interval = .zero) -> [PollFeature.Action] {
      received += 1
      let before = output.actions.count
      throttle.receive(event, timestamp: 7, at: .origin + time, into: &output)
      return Array(output.actions[before...])
    }

    var isConserved: Bool {
      received == output.applied + output.coalesced + output.rejected.values.reduce(0, +)
        + throttle.pending
    }
  }

  private static func question(_ id: String, _ options: Int = 2) -> PollQuestion {
    PollQuestion(
      id: Text(id), title: "title", options: (0..<options).map { Text("option \($0)") })
  }

  private static func votes(_ id: String, _ totals: Int...) -> PollEvent {
    .votes(pollID: Text(id), totals: totals)
  }

  @Test func `the first vote totals pass the throttle immediately, and later only the newest`() {
    var run = Run()
    #expect(run.receive(.begin(Self.question("p"))) == [.began(Self.question("p"), at: 7)])
    #expect(run.receive(Self.votes("p", 1, 0)) == [.voted([1, 0])])
    #expect(run.receive(Self.votes("p", 2, 0)) == [])
    #expect(run.receive(Self.votes("p", 2, 3)) == [])
    #expect(run.throttle.pending == 1)
    #expect(run.output.coalesced == 1)
    #expect(run.throttle.deadline == .origin + .milliseconds(200))
    run.throttle.wake(at: .origin + .milliseconds(200), into: &run.output)
    #expect(run.output.actions.last == .voted([2, 3]))
    #expect(run.throttle.deadline == nil)
    #expect(run.isConserved)
  }

  @Test func `the last vote totals before the end are the final totals`() {
    var run = Run()
    _ = run.receive(.begin(Self.question("p")))
    for count in 1...5 { _ = run.receive(Self.votes("p", count, 0)) }
    #expect(
      run.receive(.end(pollID: "p", winner: 0)) == [.voted([5, 0]), .ended(winner: 0)])
    #expect(run.output.rejected.isEmpty)
    #expect(run.isConserved)
  }

  @Test func `held vote totals are applied to their own poll before the next poll begins`() {
    var run = Run()
    _ = run.receive(.begin(Self.question("a")))
    _ = run.receive(Self.votes("a", 1, 0))
    _ = run.receive(Self.votes("a", 1, 1))
    #expect(
      run.receive(.begin(Self.question("b"))) == [
        .voted([1, 1]), .began(Self.question("b"), at: 7),
      ]
    )
    #expect(run.receive(Self.votes("b", 9, 9)) == [])
    #expect(run.receive(Self.votes("a", 2, 2)) == [], "it was replaced")
    run.throttle.flush(at: .origin, into: &run.output)
    #expect(run.output.actions.last == .voted([9, 9]))
    #expect(run.output.rejected == [.invalidValue: 1])
    #expect(run.isConserved)
  }

  @Test(arguments: [
    votes("q", 1, 0), votes("p", 1), votes("p", 1, 0, 0), votes("p"), votes("", 1, 0),
    .end(pollID: "q", winner: nil), .end(pollID: "p", winner: 2), .end(pollID: "p", winner: -1),
  ])
  func `an event that does not match the open poll is rejected and changes nothing`(
    event: PollEvent
  ) {
    var run = Run()
    _ = run.receive(.begin(Self.question("p")))
    #expect(run.receive(event) == [])
    #expect(run.output.rejected == [.invalidValue: 1])
    #expect(run.isConserved)
    #expect(run.receive(Self.votes("p", 3, 4)) == [.voted([3, 4])])
    #expect(run.receive(.end(pollID: "p", winner: 1)) == [.ended(winner: 1)])
  }

  @Test(arguments: [votes("p", 1, 0), .end(pollID: "p", winner: nil)])
  func `votes and ends are rejected while no poll is open or shown`(
    event: PollEvent
  ) {
    var run = Run()
    #expect(run.receive(event) == [])
    _ = run.receive(.begin(Self.question("p")))
    _ = run.receive(.end(pollID: "p", winner: nil))
    #expect(run.receive(event) == [])
    _ = run.receive(.begin(Self.question("p")))
    run.throttle.show(false)
    #expect(run.receive(event) == [])
    // A late poll passes like all late events, but accepts no votes.
    #expect(run.receive(.begin(Self.question("p"))).count == 1)
    #expect(run.receive(event) == [])
    run.throttle.show(true)
    #expect(run.receive(event) == [])
    #expect(run.output.rejected == [.invalidValue: 5])
    #expect(run.isConserved)
    _ = run.receive(.begin(Self.question("p")))
    #expect(run.receive(event).count == 1)
  }

  @Test func `a poll that is sent again under its identifier restarts with the new options`() {
    var run = Run()
    _ = run.receive(.begin(Self.question("p", 2)))
    _ = run.receive(.begin(Self.question("p", 3)))
    #expect(run.receive(Self.votes("p", 1, 2)) == [])
    #expect(run.output.rejected == [.invalidValue: 1])
    #expect(run.receive(Self.votes("p", 1, 2, 3)) == [.voted([1, 2, 3])])
  }

  @Test func `the identifier of a poll is compared with its escapes resolved`() {
    let line = ByteSlab(Array("p\\u0031 and the rest of a long line".utf8))
    let escaped = Text(slab: line, slice: .init(offset: 0, count: 7, escape: .json))
    var run = Run()
    _ = run.receive(.begin(PollQuestion(id: escaped, title: "", options: ["a"])))
    #expect(run.receive(Self.votes("p1", 5)) == [.voted([5])])
  }

  @Test func `a restored poll accepts votes if it is open`() {
    var state = PollFeature.State()
    _ = PollFeature().reduce(into: &state, action: .began(Self.question("p"), at: 0))
    var run = Run()
    run.throttle.resume(state)
    #expect(run.receive(Self.votes("p", 1, 2)) == [.voted([1, 2])])
    #expect(run.receive(Self.votes("p", 1)) == [])
    _ = PollFeature().reduce(into: &state, action: .ended(winner: 0))
    run.throttle.resume(state)
    #expect(run.receive(Self.votes("p", 1, 2)) == [])
    run.throttle.resume(nil)
    #expect(run.receive(.end(pollID: "p", winner: nil)) == [])
    #expect(run.output.rejected == [.invalidValue: 3])
  }

  /// Compares with a simple model without throttles.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `for any sequence of events, each poll ends with its own last totals`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var run = Run()
    var state = PollFeature.State()
    var model: (id: String, totals: [Int])?
    var rejected = 0
    var reduced = 0
    var now = Interval.zero
    for step in 0..<2_000 {
      now = now + .milliseconds(Int64(random.pick(0..<60)))
      let id = "p\(random.pick(0..<3))"
      switch random.pick(0..<8) {
      case 0:
        let options = random.pick(1..<4)
        _ = run.receive(.begin(Self.question(id, options)), at: now)
        model = (id, Array(repeating: 0, count: options))
      case 1:
        let isRight = model?.id == id
        _ = run.receive(.end(pollID: Text(id), winner: nil), at: now)
        rejected += isRight ? 0 : 1
        for action in run.output.actions[reduced...] {
          _ = PollFeature().reduce(into: &state, action: action)
        }
        reduced = run.output.actions.count
        if isRight {
          #expect(state.options.map(\.votes) == model?.totals, "step \(step)")
          model = nil
        }
      default:
        let totals = (0..<random.pick(1..<4)).map { _ in random.pick(0..<1_000) }
        _ = run.receive(.votes(pollID: Text(id), totals: totals), at: now)
        if model?.id == id, model?.totals.count == totals.count {
          model?.totals = totals
        } else {
          rejected += 1
        }
      }
      if random.oneIn(3) { run.throttle.wake(at: .origin + now, into: &run.output) }
      #expect(run.isConserved)
    }
    #expect(run.output.rejected == [.invalidValue: rejected])
    #expect(run.output.coalesced > 0)
  }
}
