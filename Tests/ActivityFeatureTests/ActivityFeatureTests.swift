import ActivityFeature
import Composable
import ComposableTesting
import LiveEvents
import RateLimiting
import Testing
import Throttling
import ViewGraph

@Suite struct ActivityFeatureTests {
  private let store = Store(
    initialState: ActivityFeature.State(), lane: DirectLane(), notification: .batched
  ) { ActivityFeature() }

  private var rows: [ActivityRow] { store.state.feed.shown }

  private func person(_ name: String) -> Person { Person(id: Text(name), name: Text(name)) }

  private func follow(_ name: String, at time: Timestamp = 0) {
    store.send(.followed(person(name), at: time))
  }

  private func notice(_ kind: ChatNotice.Kind, _ name: String, _ count: Int, at time: Timestamp = 0)
  {
    store.send(.noticed(ChatNotice(kind: kind, user: person(name), count: count), at: time))
  }

  @Test func `the feed shows the newest row first`() {
    follow("Ann", at: 1)
    notice(.raid, "Bob", 70, at: 2)
    store.send(.redeemed(Redemption(user: person("Cyd"), title: "Water", cost: 50), at: 3))
    store.send(.announced(Announcement(text: "Soon"), at: 4))
    #expect(rows.map(\.kind) == [.announcement, .redemption, .raid, .follow])
    #expect(rows.map(\.name) == [nil, "Cyd", "Bob", "Ann"])
    #expect(rows.map(\.count) == [0, 50, 70, 0])
    #expect(rows.map(\.number) == [4, 3, 2, 1])
  }

  @Test
  func
    `the fourth row of a kind within ten seconds is combined with the newest, as are later ones`()
  {
    for name in ["a", "b", "c", "d", "e"] { follow(name, at: 1_000) }
    #expect(rows.map(\.name) == ["e", "b", "a"])
    #expect(rows.map(\.times) == [3, 1, 1])
    #expect(store.state.feed.total == 5)
    follow("late", at: 12_000)
    #expect(rows.map(\.name) == ["late", "e", "b", "a"])
    // Rows of other kinds are not combined with gifts, and raids are never combined.
    for viewers in 1...5 { notice(.raid, "r", viewers, at: 12_000) }
    #expect(rows.count == 9)
  }

  @Test(arguments: [
    (ActivityFeature.Retraction.message("m"), false, true), (.message("x"), true, true),
    (.person(Person(id: "Ann", name: "")), false, true),
    (.person(Person(id: "", name: "ANN")), false, true),
    (.person(Person(id: "Bob", name: "Bob")), true, false), (.everything, false, false),
  ])
  func `moderation removes the text of a row and keeps the row`(
    retraction: ActivityFeature.Retraction, keepsFirst: Bool, keepsSecond: Bool
  ) {
    let words = ChatMessage(id: "m", userID: "Ann", userName: "Ann", text: "rude")
    store.send(
      .noticed(
        ChatNotice(kind: .resubscribe, user: person("Ann"), count: 1, message: words), at: 1))
    store.send(
      .redeemed(Redemption(user: person("Bob"), title: "Water", text: "kind", id: "r"), at: 2))
    #expect(rows.map(\.text) == ["kind", "rude"])
    store.send(.retracted(retraction))
    #expect(rows.map(\.text) == [keepsSecond ? "kind" : nil, keepsFirst ? "rude" : nil])
    #expect(rows.map(\.kind) == [.redemption, .resubscribe])
  }

  @Test func `a truncated text keeps the emotes before the cut, and a removed text keeps none`() {
    let long = Text("Kappa " + String(repeating: "a", count: 600) + " Kappa")
    store.send(
      .announced(Announcement(user: person("Ann"), text: long, emotes: [0..<5, 607..<612]), at: 1))
    store.send(
      .redeemed(
        Redemption(user: person("Bob"), title: "Water", text: "hi Kappa", emotes: [3..<8]), at: 2))
    let words = ChatMessage(
      id: "m", userID: "Cyd", userName: "Cyd", text: "Kappa", emotes: [0..<5])
    store.send(
      .noticed(
        ChatNotice(kind: .resubscribe, user: person("Cyd"), count: 1, message: words), at: 3))
    #expect(rows.map(\.emotes) == [[0, 5], [3, 8], [0, 5]])
    store.send(.retracted(.everything))
    #expect(rows.map(\.emotes) == [nil, nil, nil])
  }

  @Test func `combined gifts are summed, and rewards with different titles are not combined`() {
    for gifts in 1...5 { notice(.gift, "g\(gifts)", gifts) }
    #expect(rows.first?.times == 3)
    #expect(rows.first?.count == 3 + 4 + 5)
    for title in ["Water", "Hat", "Water", "Hat", "Water", "Water"] as [Text] {
      store.send(.redeemed(Redemption(user: person("a"), title: title, cost: 10), at: 5))
    }
    #expect(rows.prefix(5).map(\.title) == ["Water", "Hat", "Water", "Hat", "Water"])
    #expect(rows.first?.times == 2)
  }

  @Test func `a pinned row stays and is never combined, and at most eight rows can be pinned`() {
    follow("kept")
    store.send(.pinned(1))
    for name in ["a", "b", "c", "d"] { follow(name) }
    #expect(rows.map(\.name) == ["kept", "d", "b", "a"])
    for number in 0..<100 { notice(.raid, "r\(number)", 1) }
    #expect(rows.count == ActivityFeed.limit)
    #expect(rows.first?.name == "kept")
    #expect(rows.dropFirst().first?.name == "r99")
    for row in rows { store.send(.pinned(row.number)) }
    #expect(rows.count { $0.isPinned } == ActivityFeed.pinnedLimit)
    store.send(.unpinned(1))
    notice(.raid, "last", 1)
    #expect(!rows.contains { $0.name == "kept" })
    store.send(.dismissed(rows[0].number))
    #expect(rows.count == ActivityFeed.limit - 1)
  }

  @Test func `long texts are truncated, and the total size of all texts is limited`() {
    let long = Text(String(repeating: "é", count: 3_000))
    for number in 0..<200 {
      store.send(
        .redeemed(
          Redemption(
            user: person(String(repeating: "n", count: 250)),
            title: Text("\(number)" + String(repeating: "t", count: 240)), text: long),
          at: Timestamp(number) * 20_000))
    }
    #expect(rows.allSatisfy { $0.text?.utf8.count == 512 })
    let bytes = rows.reduce(0) {
      $0 + ($1.name?.utf8.count ?? 0) + ($1.title?.utf8.count ?? 0) + ($1.text?.utf8.count ?? 0)
    }
    #expect(bytes <= ActivityFeed.byteLimit && bytes > ActivityFeed.byteLimit / 2)
    #expect(rows.first?.number == 200)
  }

  @Test func `a hype train is shown with its level and becomes a row of the feed when it ends`() {
    store.send(.trainMoved(HypeTrain(phase: .begin, level: 1, progress: 2, goal: 8), at: 1))
    store.send(.trainMoved(HypeTrain(phase: .progress, level: 2, progress: 3, goal: 9), at: 2))
    #expect(store.state.train?.level == 2)
    store.send(.trainMoved(HypeTrain(phase: .end, level: 3), at: 3))
    #expect(store.state.train == nil)
    #expect(rows.map(\.kind) == [.hypeTrain])
    #expect(rows.first?.count == 3)
  }

  @Test func `a prediction is updated and cancelled, and at most four goals are shown`() {
    func prediction(_ state: Prediction.State) -> Prediction {
      Prediction(id: "p", title: "Who?", state: state, options: ["a", "b"], totals: [1, 3])
    }
    store.send(.predicted(prediction(.open)))
    store.send(.predicted(prediction(.locked)))
    #expect(store.state.prediction?.state == .locked)
    store.send(.predicted(prediction(.cancelled)))
    #expect(store.state.prediction == nil)
    for title in ["a", "b", "c", "a", "d", "e"] as [Text] {
      store.send(.counted(Goal(title: title, count: 1, target: 2)))
    }
    #expect(store.state.goals.map(\.title) == ["b", "c", "d", "e"])
  }

  @Test
  func `only the newest progress of a train and of each goal is applied, before other events`() {
    var throttle = ActivityThrottle()
    var output = ThrottleOutput<ActivityFeature.Action>()
    var received = 0
    func receive(_ event: ActivityEvent, at time: Interval) {
      received += 1
      throttle.receive(event, timestamp: 7, at: .origin + time, into: &output)
    }
    func train(_ phase: HypeTrain.Phase, _ progress: Int) -> HypeTrain {
      HypeTrain(phase: phase, level: 1, progress: progress)
    }
    func goal(_ title: Text, _ count: Int) -> Goal { Goal(title: title, count: count, target: 9) }
    receive(.hypeTrain(train(.begin, 0)), at: .zero)
    for number in 1...4 {
      receive(.hypeTrain(train(.progress, number)), at: .milliseconds(1))
      receive(.goal(goal("a", number)), at: .milliseconds(1))
      receive(.goal(goal("b", number)), at: .milliseconds(1))
    }
    #expect(throttle.pending == 3)
    #expect(output.coalesced == 6)
    receive(.follow(user: person("Ann"), id: nil), at: .milliseconds(2))
    #expect(
      output.actions.suffix(4) == [
        .trainMoved(train(.progress, 4), at: 7), .counted(goal("a", 4)), .counted(goal("b", 4)),
        .followed(person("Ann"), at: 7),
      ])
    receive(.hypeTrain(train(.progress, 5)), at: .milliseconds(3))
    receive(.hypeTrain(train(.end, 6)), at: .milliseconds(4))
    #expect(
      output.actions.suffix(2) == [
        .trainMoved(train(.progress, 5), at: 7), .trainMoved(train(.end, 6), at: 7),
      ])
    #expect(received == output.applied + output.coalesced + throttle.pending)
  }

  @Test func `follows on different platforms are not combined, and each row shows its platform`() {
    let store = store
    let graph = ViewGraph(ActivityView(), place: store.place, clock: { 0 }, read: { store.state })
    func follow(_ name: String, on platform: Text, by source: Text = "") {
      let origin = Origin(platform: platform, source: source)
      store.send(.followed(person(name), at: 0, from: origin))
    }
    func firstMarks() -> [ViewNode] {
      store.deliverChanges()
      graph.evaluateFrame()
      guard case .panel(_, .column(let parts)) = graph.output(of: graph.rootID),
        case .acting(_, .list(let rows, _)) = parts.last
      else { return [] }
      return rows.compactMap {
        guard case .row(let nodes) = $0.node else { return nil }
        return nodes[1]
      }
    }
    for name in ["a", "b", "c", "d"] { follow(name, on: "twitch", by: Text(name)) }
    #expect(rows.map(\.times) == [2, 1, 1] && rows.first?.source == "d")
    #expect(firstMarks().first == .text("d and 1 other followed"))
    follow("e", on: "kick")
    follow("f", on: "")
    #expect(rows.map(\.platform) == [nil, "kick", "twitch", "twitch", "twitch"])
    #expect(
      firstMarks().prefix(3) == [
        .text("f followed"), .text("[kick]", .faint), .text("[twitch]", .faint),
      ])
  }

  @Test func `the view shows the hype train, goals, and prediction above the feed`() {
    let store = store
    let graph = ViewGraph(ActivityView(), place: store.place, clock: { 0 }, read: { store.state })
    for name in ["a", "b", "c", "d"] { follow(name) }
    notice(.giftBomb, "Bob", 50)
    notice(.cheer, "Cyd", 1_000)
    store.send(.redeemed(Redemption(user: person("Dee"), title: "Hat", cost: 5, text: "hi"), at: 1))
    store.send(.pinned(5))
    store.send(.trainMoved(HypeTrain(phase: .begin, level: 2, progress: 1, goal: 4), at: 1))
    store.send(.counted(Goal(title: "followers", count: 9, target: 8)))
    store.send(
      .predicted(
        Prediction(
          id: "p", title: "Who?", state: .resolved, options: ["x", "y"], totals: [1, 3], winner: 1))
    )
    store.deliverChanges()
    graph.evaluateFrame()
    func row(_ number: Int, _ nodes: ViewNode...) -> ViewNode.ListRow {
      .init(id: "\(number)", .row([.text("\(number)", .faint)] + nodes))
    }
    func act(_ word: String) -> ViewAct {
      ViewAct(
        word, "HandleActivity", ["handling": .text(word)], input: .numberedRow("activity"))
    }
    #expect(
      graph.output(of: graph.rootID)
        == .panel(
          .init("activity", title: "Activity", priority: 3, minimumRows: 2),
          .column([
            .gauge(label: "hype train", value: 0.25, text: "level 2, 1 of 4", .active),
            .gauge(label: "followers", value: 1, text: "9 of 8", .good),
            .row([.badge("ENDED", .faint), .text("Who?", .strong)]),
            .gauge(label: "x", value: 0.25, text: "25% 1 point"),
            .gauge(label: "y", value: 0.75, text: "75% 3 points, winner", .good),
            .list([
              row(5, .badge("PINNED", .warning), .text("Bob gave 50 subscriptions")),
              row(7, .text("Dee redeemed Hat for 5 points"), .text("hi", .faint)),
              row(6, .text("Cyd cheered 1,000")),
              row(3, .text("d and 1 other followed")),
              row(2, .text("b followed")), row(1, .text("a followed")),
            ]).acting(act("pin"), act("unpin"), act("dismiss")),
          ])))
  }
}
