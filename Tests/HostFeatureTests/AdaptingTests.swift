import ChatFeature
import HostFeature
import LiveEvents
import RateLimiting
import TestSupport
import Testing
import Throttling

/// How the throttle stage of a room responds to new policies and to the cost of frames.
@Suite struct AdaptingTests {
  private func policies(
    _ kind: ThrottledKind, _ interval: Interval, upTo bound: Interval
  ) throws -> ThrottlePolicies {
    var policies = ThrottlePolicies()
    try policies.set(
      kind, PolicyDescription(kind.limitClass, interval: interval, maximumStaleness: bound))
    return policies
  }

  private let message = LiveEvent.Payload.chat(
    .message(
      ChatMessage(id: "m", userID: "u", userName: "Ann", text: "hi")))

  @Test
  func `new throttle policies apply from the next window, and held events keep their deadline`()
    throws
  {
    var run = HostRun()
    run.receive(message)
    let promised = run.throttle.deadline
    run.throttle.apply(try policies(.chat, .seconds(2), upTo: .seconds(2)))
    #expect(run.throttle.deadline == promised)
    run.wake(at: .origin + .milliseconds(17))
    #expect(run.state.chat?.total == 1)
    run.receive(message, at: .origin + .seconds(1))
    #expect(run.throttle.deadline == .origin + .seconds(3))
    // The old policies apply again afterwards.
    run.throttle.apply(ThrottlePolicies())
    run.wake(at: .origin + .seconds(3))
    run.receive(message, at: .origin + .seconds(4))
    #expect(run.throttle.deadline == .origin + .seconds(4) + ThrottlePolicies.frame)
  }

  @Test(arguments: ThrottledKind.allCases.filter { $0.limitClass != .progress })
  func `the initial throttle policies apply from the first window`(kind: ThrottledKind) throws {
    var run = HostRun()
    run.throttle = HostThrottle(try policies(kind, .milliseconds(40), upTo: .milliseconds(70)))
    run.receive(Self.poll)
    // A latest-wins throttle passes the first event immediately and holds the second.
    run.receive(event(of: kind))
    run.receive(event(of: kind))
    #expect(run.throttle.deadline == .origin + .milliseconds(40))
    run.flush()
    for _ in 0..<50 { run.throttle.record(cost: .seconds(1)) }
    run.receive(event(of: kind), at: .origin + .seconds(1))
    run.receive(event(of: kind), at: .origin + .seconds(1))
    #expect(run.throttle.deadline == .origin + .seconds(1) + .milliseconds(70))
  }

  @Test
  func `after a throttle's capacity was reduced, held events are delivered with the next event`()
    throws
  {
    var run = HostRun()
    for _ in 0..<10 { run.receive(message) }
    var policies = ThrottlePolicies()
    try policies.set(.chat, PolicyDescription(.keepAll, capacity: 4))
    run.throttle.apply(policies)
    run.receive(message)
    #expect(run.state.chat?.total == 11)
    #expect(run.counters.pending == 0)
  }

  @Test(arguments: ThrottledKind.allCases.filter { $0.limitClass != .progress })
  func `expensive frames delay events, but never beyond the maximum interval`(
    kind: ThrottledKind
  ) throws {
    let bound = Interval.milliseconds(700)
    var run = HostRun()
    run.throttle.apply(try policies(kind, .milliseconds(10), upTo: bound))
    run.receive(Self.poll)
    for _ in 0..<50 { run.throttle.record(cost: .seconds(9)) }
    // A latest-wins throttle passes the first event immediately and holds the second.
    run.receive(event(of: kind))
    run.receive(event(of: kind))
    #expect(run.throttle.deadline == .origin + bound)
    run.flush()
    for _ in 0..<200 { run.throttle.record(cost: .zero) }
    run.receive(event(of: kind), at: .origin + .seconds(10))
    run.receive(event(of: kind), at: .origin + .seconds(10))
    #expect(run.throttle.deadline == .origin + .seconds(10) + .milliseconds(10))
  }

  @Test func `cheap frames do not delay events, nor do expensive frames if the interval is fixed`()
    throws
  {
    var run = HostRun()
    // Frames may take a quarter of the time.
    for _ in 0..<50 { run.throttle.record(cost: .milliseconds(4)) }
    run.receive(message)
    #expect(run.throttle.deadline == .origin + ThrottlePolicies.frame)
    run.flush()
    run.throttle.apply(try policies(.chat, .milliseconds(20), upTo: .milliseconds(20)))
    for _ in 0..<50 { run.throttle.record(cost: .seconds(1)) }
    run.receive(message, at: .origin + .seconds(1))
    #expect(run.throttle.deadline == .origin + .milliseconds(1_020))
  }

  /// Policies and costs change at random while random events arrive.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no event or last value is lost when policies change and frames are expensive`(
    seed: UInt64
  ) throws {
    var run = HostRun()
    var events = RandomEvents(seed: seed)
    var random = SplitMix64(seed: ~seed)
    var now = Instant.origin
    var expected = Expected()
    let bound = 300
    for step in 0..<3_000 {
      now = now + .microseconds(Int64(random.pick(0..<6_000)))
      while let deadline = run.throttle.deadline, deadline <= now { run.wake(at: deadline) }
      let event = events.next()
      expected.apply(event.payload)
      run.receive(event, at: now)
      try #require(run.counters.isConserved, "step \(step)")
      if random.oneIn(5) {
        run.throttle.record(cost: .microseconds(Int64(random.pick(0..<60_000))))
      }
      if random.oneIn(50) {
        var policies = ThrottlePolicies()
        for kind in ThrottledKind.allCases where kind.limitClass != .progress {
          let interval = random.pick(1..<bound)
          try policies.set(
            kind,
            PolicyDescription(
              kind.limitClass, interval: .milliseconds(Int64(interval)),
              maximumStaleness: .milliseconds(Int64(random.pick(interval..<bound)))))
        }
        run.throttle.apply(policies)
      }
      // No event with a deadline waits longer than the largest bound so far. The first policies
      // bound statistics and progress to a second.
      if let deadline = run.throttle.deadline {
        try #require(deadline <= now + .seconds(1), "step \(step)")
      }
    }
    run.flush(at: now)
    #expect(run.counters.pending == 0)
    expected.expect(of: run.state)
  }
}

extension AdaptingTests {
  /// The poll to which the votes belong. It never waits.
  private static let poll = LiveEvent.Payload.poll(
    .begin(PollQuestion(id: "p", title: "title", options: ["a"])))

  private func event(of kind: ThrottledKind) -> LiveEvent.Payload {
    switch kind {
    case .chat: message
    case .waitingRoom: .waitingRoom(.join(Person(id: "u", name: "Ann")))
    case .controls: .control(.slider(Slider(control: "zoom", phase: .change, value: 0.5)))
    case .meters: .control(.meter(input: "microphone", levels: [0.5]))
    case .reactions: .header(.reaction(kind: "heart", count: 1))
    case .viewers: .header(.viewers(count: 5))
    case .votes: .poll(.votes(pollID: "p", totals: [1]))
    case .statistics: .liveRoomStats(StreamStatistics(congestion: 0))
    case .progress: .recorder(.progress(RecorderProgress(bytes: 1, durationMilliseconds: 1)))
    case .sources: .source(.state(SourceHealth(source: "s", state: .live)))
    case .goals: .activity(.goal(Goal(title: "followers", count: 1, target: 2)))
    }
  }
}
