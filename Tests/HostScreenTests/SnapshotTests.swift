import ActivityFeature
import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import EncoderStatsFeature
import Foundation
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import SourcesFeature
import Testing
import WaitingRoomFeature

@Suite struct SnapshotTests {
  private func person(_ id: String) -> Person { Person(id: Text(id), name: Text("n" + id)) }

  private func message(
    _ id: String, by user: String, at time: Timestamp, replyTo: String = "", on platform: Text = ""
  ) -> TimedMessage {
    TimedMessage(
      timestamp: time,
      message: ChatMessage(
        id: id, userID: user, userName: "n" + user, badges: "subscriber/3",
        text: "say \"\(id)\" @Ada",
        replyTo: replyTo, bits: 5, channel: replyTo.isEmpty ? "" : "next"),
      origin: Origin(platform: platform))
  }

  /// Returns a screen with values in every field of every child.
  private func fullScreen() -> HostScreen {
    let screen = HostScreen(
      lane: DirectLane(), framesPerSecond: 60, chatHistory: 3, clock: StillClock())
    screen.receive(
      LiveEvent(timestamp: 1_000, payload: .header(.viewers(count: 5))), at: .origin)
    screen.reject(.unknownType, 2)
    screen.store.send(contentsOf: [
      .chat(.reading(.mentionedNamesChanged(["Ada"]))),
      .chat(.reading(.filterChanged(ChatFilter(words: "say")))),
      .chat(
        .messages([
          message("a", by: "1", at: 1_000), message("b", by: "a-name-of-twenty-bytes", at: 1_010),
          message("c", by: "1", at: 1_020, replyTo: "b", on: "twitch"),
          message("d", by: "2", at: 1_030, on: "kick"),
        ])),
      .chat(.reading(.threadOpened(messageID: "b"))), .chat(.reading(.scrolledBack)),
      .chat(.reading(.personOpened(PersonReference(id: "1")))),
      .header(.titleChanged("Evening")), .header(.viewersChanged(count: 3, peak: 9)),
      .header(.reacted(7)), .stream(.live, at: 1_000),
      .control(.sliderBegan(control: "zoom", value: 0.25)),
      .control(.set(control: "volume", value: 0.5)), .control(.tapped(control: "mic", on: true)),
      .control(.meterRead(input: "mic", levels: [0.5, 0.25])),
      .liveRoomStats(
        .windowClosed(
          StatisticsWindow(congestion: Summary(0.7), samples: 1))),
      .recorder(.own(.restarted(isRecording: true))),
      .recorder(.ownProgressed(RecorderProgress(bytes: 1, durationMilliseconds: 2))),
      .recorder(.stateChanged(.paused)), .control(.tapped(control: "endStream", on: nil)),
      .stream(.paused, at: 1_500),
      .poll(
        .began(PollQuestion(id: "p", title: "Map?", options: ["old"], endsAt: 9_000), at: 1_500)),
      .poll(.voted([7])),
      .activity(.followed(person("9"), at: 1_600, from: Origin(platform: "kick", source: "x"))),
      .activity(.pinned(1)),
      .activity(
        .trainMoved(HypeTrain(phase: .begin, level: 2, progress: 3, goal: 9), at: 1_600)),
      .activity(
        .predicted(
          Prediction(id: "q", title: "Who?", state: .locked, options: ["a", "b"], totals: [1, 2]))),
      .activity(.counted(Goal(title: "followers", count: 3, target: 9))),
      .sources(
        .reported(
          SourceHealth(
            source: "irc", state: .behind, platform: "twitch", reason: "slow",
            behindMilliseconds: 40, lost: 1, backfilled: 2, duplicate: 3), at: 1_600)),
      .sources(.missed(MissedTime(source: "irc", from: 1, to: 5, reason: "cut"), at: 1_700)),
      .waitingRoom(.changed([.joined(person("7")), .joined(person("8"))])),
      .waitingRoom(.changed([.left(person("7"))])),
    ])
    screen.drawFrame(at: Instant(nanoseconds: 2_000_000_000), flush: true)
    return screen
  }

  @Test func `a screen restored from a snapshot in JSON equals the original`() throws {
    let screen = fullScreen()
    let state = screen.store.state
    #expect(
      state.chat?.thread?.messages.count == 2, "The test must start with data that can be lost.")
    #expect(state.chat?.card?.newest.count == 1 && state.chat?.card?.messages == 2)
    #expect(state.chat?.isMixed == true && state.activity?.feed.rows.first?.platform == "kick")
    #expect(state.poll?.options.first?.votes == 7 && state.poll?.secondsLeft == 6)
    #expect(state.waitingRoom?.people.count == 1 && state.liveRoomStats != nil)
    #expect(state.endConfirmation != nil && state.chat?.bookkeeping.chatters.count == 3)
    let bytes = try JSONEncoder().encode(screen.snapshot)
    let snapshot = try JSONDecoder().decode(ScreenSnapshot.self, from: bytes)
    let copy = HostScreen(
      lane: DirectLane(), framesPerSecond: 60, chatHistory: 3, clock: StillClock(),
      start: Instant(nanoseconds: 2_000_000_000), restoring: snapshot)
    #expect(copy.store.state == state)
    #expect(copy.counts == screen.counts)
    #expect(copy.counts.rejectedByReason == [.unknownType: 2])
    #expect(copy.nextFrame == screen.nextFrame, "ticks go on")
  }

  @Test func `events held by throttles are not part of a snapshot and not in its counts`() {
    let screen = HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: StillClock())
    for count in 1...3 {
      screen.receive(
        LiveEvent(timestamp: 1, payload: .header(.viewers(count: count))), at: .origin)
      screen.reduce()
    }
    #expect(screen.counts.pending > 0, "the test has something to hold")
    let counts = screen.snapshot.counts
    #expect(counts.pending == 0 && counts.isConserved)
    #expect(counts.received == screen.counts.received - screen.counts.pending)
  }

  @Test func `a snapshot without histories can be restored and starts new histories`() throws {
    let screen = fullScreen()
    screen.store.send(contentsOf: (1...20).map { .ticked(at: 1_000 * Timestamp($0)) })
    let state = screen.store.state
    #expect(state.chat?.rateHistory != nil && state.header.viewersHistory != nil)
    var object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(screen.snapshot))
    let members = [
      "rateHistory", "rateSampler", "viewersHistory", "viewersSampler", "bitrateHistory",
      "roundTripHistory", "samplers", "admittedBefore",
    ]
    object = Self.removing(Set(members), from: object)
    let snapshot = try JSONDecoder().decode(
      ScreenSnapshot.self, from: JSONSerialization.data(withJSONObject: object))
    let copy = HostScreen(
      lane: DirectLane(), framesPerSecond: 60, chatHistory: 3, clock: StillClock(),
      restoring: snapshot)
    #expect(copy.store.state.chat?.rateHistory == nil)
    #expect(copy.store.state.chat?.total == 4)
    copy.store.send(contentsOf: (21...40).map { .ticked(at: 1_000 * Timestamp($0)) })
    #expect(copy.store.state.header.viewersHistory?.samples == [5, 5, 5, 5])
  }

  @Test func `a snapshot of a version without polls can be restored`() throws {
    let screen = fullScreen()
    var object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(screen.snapshot))
    object = Self.removing(["poll"], from: object)
    let snapshot = try JSONDecoder().decode(
      ScreenSnapshot.self, from: JSONSerialization.data(withJSONObject: object))
    var expected = screen.store.state
    expected.poll = nil
    #expect(snapshot.state == expected)
  }

  @Test func `a snapshot of a version without activity and sources can be restored`() throws {
    let screen = fullScreen()
    var object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(screen.snapshot))
    object = Self.removing(["activity", "sources"], from: object)
    let snapshot = try JSONDecoder().decode(
      ScreenSnapshot.self, from: JSONSerialization.data(withJSONObject: object))
    var expected = screen.store.state
    (expected.activity, expected.sources) = (nil, nil)
    #expect(snapshot.state == expected)
  }

  @Test func `a poll continues in a screen that is restored from a snapshot`() throws {
    func receive(_ event: PollEvent, on screen: HostScreen) {
      screen.receive(LiveEvent(timestamp: 1_000, payload: .poll(event)), at: .origin)
      screen.reduce()
    }
    var screen = HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: StillClock())
    receive(
      .begin(PollQuestion(id: "p", title: "", options: ["a", "b"], endsAt: 5_000)), on: screen)
    screen = try restarted(screen)
    #expect(screen.nextFrame != nil, "it still counts down")
    receive(.votes(pollID: "q", totals: [1, 2]), on: screen)
    receive(.votes(pollID: "p", totals: [1]), on: screen)
    #expect(screen.counts.rejectedByReason == [.invalidValue: 2])
    receive(.votes(pollID: "p", totals: [1, 2]), on: screen)
    receive(.end(pollID: "p", winner: 1), on: screen)
    #expect(screen.store.state.poll?.options.map(\.votes) == [1, 2])
    #expect(screen.store.state.poll?.winner == 1)
    screen = try restarted(screen)
    receive(.end(pollID: "p", winner: 0), on: screen)
    #expect(screen.counts.rejected == 3)
    #expect(screen.store.state.poll?.winner == 1)
    // An ended stream shows no polls, even after a restart.
    screen.send(.stream(.ended, at: 6_000))
    screen = try restarted(screen)
    receive(.begin(PollQuestion(id: "r", title: "", options: ["a"])), on: screen)
    receive(.votes(pollID: "r", totals: [1]), on: screen)
    #expect(screen.counts.rejected == 4)
    #expect(screen.store.state.poll == nil)
    #expect(screen.counts.isConserved)
  }

  private static func removing(_ names: Set<String>, from value: Any) -> Any {
    switch value {
    case let object as [String: Any]:
      object.filter { !names.contains($0.key) }.mapValues { removing(names, from: $0) }
    case let array as [Any]: array.map { removing(names, from: $0) }
    default: value
    }
  }

  /// A bomb with an announcement and three gifts, in every order, with a restart at every position.
  @Test(arguments: 0...3, 0...4)
  func `a gift bomb that a restart interrupts is shown once`(parent: Int, cut: Int) throws {
    let user = person("7")
    var bomb = (0..<3).map { _ in ChatNotice(kind: .gift, user: user, count: 1, group: "bomb") }
    bomb.insert(ChatNotice(kind: .giftBomb, user: user, count: 3, group: "bomb"), at: parent)
    var screen = HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: StillClock())
    var shown: Set<[Int]> = []
    for (index, notice) in bomb.enumerated() {
      if index == cut { screen = try restarted(screen) }
      let event = LiveEvent(timestamp: Timestamp(index * 3_000), payload: .chat(.notice(notice)))
      screen.receive(event, at: .origin + .seconds(Int64(index * 3)))
      screen.reduce()
      shown.insert(screen.store.state.chat?.notices.entries.map(\.count) ?? [])
    }
    if cut == bomb.count { screen = try restarted(screen) }
    shown.insert(screen.store.state.chat?.notices.entries.map(\.count) ?? [])
    #expect(shown.subtracting([[]]) == [[3]])
    #expect(screen.store.state.chat?.noticeCount == 4)
  }

  private func restarted(_ screen: HostScreen) throws -> HostScreen {
    let bytes = try JSONEncoder().encode(screen.snapshot)
    return HostScreen(
      lane: DirectLane(), framesPerSecond: 60, clock: StillClock(),
      restoring: try JSONDecoder().decode(ScreenSnapshot.self, from: bytes))
  }

  @Test func `the control names of a restored panel count towards the limit`() throws {
    func tap(_ name: String, on screen: HostScreen) {
      let tap = ControlEvent.tap(control: Text(name), on: true)
      screen.receive(LiveEvent(timestamp: 0, payload: .control(tap)), at: .origin)
      let levels = ControlEvent.meter(input: Text(name), levels: [0.5])
      screen.receive(LiveEvent(timestamp: 0, payload: .control(levels)), at: .origin)
      screen.reduce()
    }
    var screen = HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: StillClock())
    for number in 1...ControlThrottle.nameCapacity { tap("c\(number)", on: screen) }
    screen.drawFrame(at: .origin + .seconds(1))
    screen = try restarted(screen)
    tap("one more", on: screen)
    #expect(screen.counts.rejected == 2)
    tap("c1", on: screen)
    #expect(screen.counts.rejected == 2)
    #expect(screen.store.state.control.switches.count == ControlThrottle.nameCapacity)
  }

  @Test func `a snapshot whose history exceeds its limit is rejected`() throws {
    let text = #"{"limit":0,"messages":[]}"#
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(MessageHistory.self, from: Data(text.utf8))
    }
  }
}
