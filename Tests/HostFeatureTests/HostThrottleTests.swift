import ChatFeature
import Composable
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RateLimiting
import TestSupport
import Testing
import Throttling

@Suite struct HostThrottleTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `every event is counted at every step as applied, coalesced, rejected or pending`(
    seed: UInt64
  ) throws {
    var run = HostRun()
    var events = RandomEvents(seed: seed)
    var times = SplitMix64(seed: ~seed)
    var now = Instant.origin
    for step in 0..<3_000 {
      // Time advances unevenly, and sometimes backwards. The host's throttles are woken late or not
      // at all.
      now = now + .microseconds(Int64(times.pick(-500..<6_000)))
      if times.oneIn(3) { run.wake(at: now) }
      run.receive(events.next(), at: now)
      try #require(run.counters.isConserved, "step \(step)")
      try #require(run.counters.pending == run.throttle.pending, "step \(step)")
      if times.oneIn(200) {
        run.flush(at: now)
        try #require(run.throttle.pending == 0, "step \(step)")
      }
    }
    run.flush(at: now)
    #expect(run.counters.isConserved)
    #expect(run.counters.pending == 0)
    #expect(run.throttle.pending == 0)
    #expect(run.throttle.deadline == nil)
    #expect(run.counters.coalesced > 0)
    #expect(run.counters.rejected > 0)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `held events are delivered at their deadline`(seed: UInt64) {
    var run = HostRun()
    var events = RandomEvents(seed: seed)
    var now = Instant.origin
    for _ in 0..<500 {
      now = now + .milliseconds(1)
      run.receive(events.next(), at: now)
    }
    var wakes = 0
    while let deadline = run.throttle.deadline {
      let before = run.throttle.pending
      run.wake(at: deadline)
      #expect(run.throttle.pending < before)
      wakes += 1
      guard wakes < 1_000 else { break }
    }
    // Progress within a percent waits for the next percent or the end, and has no deadline.
    #expect(run.throttle.pending <= 1)
    #expect(run.counters.isConserved)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `events that must not be dropped arrive in order, after earlier messages`(seed: UInt64) {
    var run = HostRun()
    var events = RandomEvents(seed: seed)
    var times = SplitMix64(seed: ~seed)
    var now = Instant.origin
    var sent: [String] = []
    for _ in 0..<2_000 {
      now = now + .microseconds(Int64(times.pick(0..<4_000)))
      run.wake(at: now)
      let event = events.next()
      switch event.payload {
      case .chat(.message(let message)): sent.append("message \(message.id)")
      case .chat(.clear): sent.append("clear")
      case .chat(.delete(let id)): sent.append("delete \(id)")
      case .chat(.timeout(let timeout)): sent.append("timeout \(timeout.user.id)")
      case .chat(.notice(let notice)): sent.append("notice \(notice.count)")
      case .stream(let phase): sent.append("stream \(phase)")
      case .activity, .chat, .control, .header, .liveRoomStats, .poll, .recorder, .source,
        .waitingRoom:
        break
      }
      run.receive(event, at: now)
    }
    run.flush(at: now)
    #expect(run.actions.flatMap(chatStory) == sent)
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `sums of events are exact, and the last value of each kind arrives`(seed: UInt64) {
    var run = HostRun()
    var events = RandomEvents(seed: seed)
    var likes = 0
    var peak = 0
    var viewers = 0
    var title = ""
    var messages = 0
    var committed = 0
    for step in 0..<3_000 {
      let event = events.next()
      switch event.payload {
      case .header(.reaction(_, let count)): likes += count
      case .header(.viewers(let count)):
        viewers = count
        peak = max(peak, count)
      case .header(.title(let text)): title = String(text)
      case .chat(.message): messages += 1
      case .control(.slider(let slider)):
        if slider.phase == .end, (0...1).contains(slider.value) { committed += 1 }
      case .control(.set): committed += 1
      case .activity, .chat, .control, .header(.category), .liveRoomStats, .poll, .recorder,
        .source, .waitingRoom, .stream:
        break
      }
      let now = Instant(nanoseconds: Int64(step) * 700_000)
      run.wake(at: now)
      run.receive(event, at: now)
    }
    run.flush()
    #expect(run.state.header.likes == likes)
    #expect(run.state.header.viewers == viewers)
    #expect(run.state.header.peakViewers == peak)
    #expect(run.state.header.title == title)
    #expect(run.state.chat?.total == messages)
    #expect(run.state.control.committed == committed)
    #expect(run.store.failures == 0)
  }

  @Test func `two hundred thousand reactions are delivered as one exact sum`() {
    var run = HostRun()
    for index in 0..<200_000 {
      let now = Instant(nanoseconds: Int64(index) * 20_000)
      run.wake(at: now)
      run.receive(.header(.reaction(kind: "heart", count: index % 7 + 1)), at: now)
    }
    run.flush()
    #expect(run.state.header.likes == (0..<200_000).reduce(0) { $0 + $1 % 7 + 1 })
    // The events span 4 s of frames.
    #expect(run.actions.count <= 241)
  }

  @Test func `a change of the stream's phase delivers held events before it removes a part`() {
    var run = HostRun()
    run.receive(.liveRoomStats(StreamStatistics(congestion: 0.9)))
    run.receive(.waitingRoom(.join(Person(id: "u1", name: "Ann"))))
    #expect(run.throttle.pending == 2)
    run.receive(.stream(.live))
    #expect(run.throttle.pending == 0)
    #expect(run.actions.count == 3)
    #expect(run.actions.last == .stream(.live, at: 0))
    #expect(run.state.quality == .poor)
    #expect(run.state.waitingRoom == nil)
    #expect(run.store.actionsWithoutChild == 0)
  }

  @Test func `a late join of the waiting room has no effect but is counted`() {
    var run = HostRun()
    run.receive(.stream(.live))
    run.receive(.waitingRoom(.join(Person(id: "u1", name: "Ann"))))
    run.flush()
    #expect(run.state.waitingRoom == nil)
    #expect(run.counters.applied == 2)
    #expect(run.counters.isConserved)
    #expect(run.store.actionsWithoutChild == 1)
  }

  @Test
  func `the end of the stream delivers held votes, removes the poll, and rejects later votes`() {
    let question = PollQuestion(id: "p", title: "", options: ["a", "b"])
    var run = HostRun()
    run.receive(.poll(.begin(question)))
    run.receive(.poll(.votes(pollID: "p", totals: [1, 0])))
    run.receive(.poll(.votes(pollID: "p", totals: [1, 1])))
    #expect(run.throttle.pending == 1)
    run.receive(.stream(.ended))
    #expect(run.throttle.pending == 0)
    #expect(run.actions.suffix(2) == [.poll(.voted([1, 1])), .stream(.ended, at: 0)])
    #expect(run.store.actionsWithoutChild == 0)
    #expect(run.state.poll == nil)
    #expect(run.counters.rejected == 0)
    run.receive(.poll(.votes(pollID: "p", totals: [2, 2])))
    #expect(run.counters.rejected == 1)
    // A poll that begins now is late: it is not shown, and accepts no votes.
    run.receive(.poll(.begin(question)))
    run.receive(.poll(.end(pollID: "p", winner: nil)))
    #expect(run.state.poll == nil)
    #expect(run.counters.rejected == 2)
    #expect(run.store.actionsWithoutChild == 1)
    run.receive(.stream(.waiting))
    run.receive(.poll(.begin(question)))
    run.receive(.poll(.votes(pollID: "p", totals: [3, 4])))
    run.flush()
    #expect(run.state.poll?.options.map(\.votes) == [3, 4])
    #expect(run.counters.rejected == 2)
    #expect(run.counters.isConserved)
  }

  @Test func `the host's deadline is the earliest deadline of its parts`() {
    var run = HostRun()
    #expect(run.throttle.deadline == nil)
    run.receive(.liveRoomStats(StreamStatistics(congestion: 0)))
    #expect(run.throttle.deadline == .origin + .seconds(1))
    run.receive(.header(.reaction(kind: "heart", count: 1)))
    #expect(run.throttle.deadline == .origin + .nanoseconds(16_666_667))
  }

  private func chatStory(_ action: HostFeature.Action) -> [String] {
    switch action {
    case .chat(.messages(let batch)): batch.map { "message \($0.message.id)" }
    case .chat(.cleared): ["clear"]
    case .chat(.messageDeleted(let id, _)): ["delete \(id)"]
    case .chat(.timedOut(let timeout, _)): ["timeout \(timeout.user.id)"]
    case .chat(.notice(let notice, _, _)): ["notice \(notice.count)"]
    case .stream(let phase, _, _): ["stream \(phase)"]
    case .chat(.modesChanged), .chat(.ticked), .chat(.reading), .chat(.reviewContinued),
      .chat(.analysisWanted), .chat(.analysisResumed), .chat(.analysed), .chat(.actsChanged),
      .activity, .control,
      .sources,
      .header, .liveRoomStats,
      .poll, .recorder, .waitingRoom, .endConfirmation, .roomClosed, .historyLimited,
      .chatAnalysisWanted,
      .ticked:
      []
    }
  }
}
