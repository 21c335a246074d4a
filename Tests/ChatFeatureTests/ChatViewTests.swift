import ChatFeature
import Composable
import ComposableTesting
import Foundation
import LiveEvents
import RateLimiting
import TestSupport
import Testing
import ViewGraph

@Suite struct ChatViewTests {
  @Test func `a chat message is a row that keeps its identity`() throws {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    store.send(.messages((1...20).map { message($0, at: 0) }))
    store.deliverChanges()
    graph.evaluateFrame()
    let first = try rows(of: graph)
    #expect(first.map(\.id) == (9...20).map(String.init))
    store.send(.messages([message(21, by: "bob", at: 0)]))
    store.deliverChanges()
    graph.evaluateFrame()
    let second = try rows(of: graph)
    #expect(Array(second.dropLast()) == Array(first.dropFirst()))
    #expect(second.last?.node == .row([.text("BOB:", .person), .text("bob says 21")]))
  }

  @Test func `a text with emotes is drawn as one element, in which the emotes are marked`() throws {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    let message = ChatMessage(
      id: "1", userID: "u", userName: "Ann", text: "hi Kappa", emotes: [3..<8])
    store.send(.messages([TimedMessage(timestamp: 0, message: message)]))
    store.deliverChanges()
    graph.evaluateFrame()
    let row = try #require(try rows(of: graph).last?.node)
    #expect(row == .row([.text("Ann:", .person), .marked("hi Kappa", [3..<8])]))
    #expect(row != .row([.text("Ann:", .person), .marked("hi Kappa", [3..<7])]))
    #expect(row.elementCount == ViewNode.row([.text("Ann:", .person), .text("hi")]).elementCount)
  }

  @Test
  func `the platform of messages is shown if the chat has messages from more than one platform`()
    throws
  {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    func marks(_ batches: [TimedMessage]...) throws -> [String?] {
      for batch in batches { store.send(.messages(batch)) }
      store.deliverChanges()
      graph.evaluateFrame()
      return try rows(of: graph).map {
        guard case .row(let nodes) = $0.node, case .text(let text, .faint)? = nodes.first else {
          return nil
        }
        return text
      }
    }
    func message(_ number: Int, on platform: Text, by source: Text = "") -> TimedMessage {
      TimedMessage(
        timestamp: 0,
        message: ChatMessage(id: "m\(number)", userID: "u", userName: "Ann", text: "hi"),
        origin: Origin(platform: platform, source: source))
    }
    // Messages without a known platform, and several sources of one platform, do not count.
    #expect(
      try marks([message(1, on: ""), message(2, on: "twitch", by: "a")]) == [nil, nil])
    #expect(
      try marks([message(3, on: "twitch", by: "b")], [message(4, on: "", by: "c")])
        == [nil, nil, nil, nil])
    #expect(
      try marks([message(5, on: "youtube")], [message(6, on: "")])
        == [nil, "[twitch]", "[twitch]", nil, "[youtube]", nil])
    store.send(.messages((7...20).map { message($0, on: "youtube") }))
    let earlier = ChatView().earlierRows(store.state)
    let marked = ViewNode.row([
      .text("[twitch]", .faint), .text("Ann:", .person), .text("hi"),
    ])
    #expect(earlier[1].node == marked)
  }

  @Test
  func `a burst of duplicates is one row at a fixed position, and its messages are not listed`()
    throws
  {
    var state = ChatFeature.State()
    state.beginAnalysis()
    let store = Store(initialState: state, lane: DirectLane(), notification: .batched) {
      ChatFeature(
        dependencies: Dependencies.live().overriding(
          ChatAnalysis { _ in
            try await untilCancelled()
            return ChatFindings(run: 1)
          }))
    }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    func draw(_ actions: ChatFeature.Action...) throws -> [[String]] {
      for action in actions { store.send(action) }
      store.deliverChanges()
      graph.evaluateFrame()
      return try lists(of: graph).map { $0.map(\.id) }
    }
    // Without a burst, messages do not wait for the analysis.
    #expect(try draw(.messages((1...4).map { message($0, at: 0) })) == [["1", "2", "3", "4"]])
    let wave = ChatFindings(
      run: 1, samples: ["Buy!"], members: [.init(offset: 1, count: 2, burst: 1)])
    #expect(try draw(.analysed(wave)) == [["wave-1"], ["1", "4"]])
    #expect(
      try lists(of: graph)[0][0].node
        == .row([.text("2 messages", .strong), .text("by 1 person:", .faint), .text("Buy!")]))
    // While a burst lasts, new messages wait for the analysis, because most of them will belong to
    // the burst.
    #expect(
      try draw(.messages([message(5, at: 0), message(6, at: 0)])) == [["wave-1"], ["1", "4"]])
    #expect(
      try draw(.analysed(ChatFindings(run: 2, members: [.init(offset: 0, count: 1, burst: 1)])))
        == [["wave-1"], ["1", "4", "6"]])
    // The host keeps reading at the same position, and sees all messages that pass a filter.
    #expect(
      try draw(
        .reading(.scrolledBack), .messages((7...40).map { message($0, at: 0) }),
        .analysed(ChatFindings(run: 3))) == [
          ["wave-1"], ["1", "4", "6"] + (7...15).map(String.init),
        ])
    let filter = ChatFilter(person: nil, words: "says 5", mentionsOnly: false)
    #expect(try draw(.reading(.filterChanged(filter))) == [["wave-1"], ["5"]])
    #expect(try draw(.reading(.filterChanged(nil)), .ticked(at: 31_000)).count == 1)
  }

  @Test func `the newest highlights are rows whose position does not change`() throws {
    var state = ChatFeature.State()
    state.beginAnalysis()
    state.apply(.messages([message(1)]))
    let found = (1...5).map {
      ChatHighlight(
        startedAt: 1_700_000_000_000 + Timestamp($0) * 100_000, seconds: 12, messages: 140,
        busiest: 123, usual: 20, words: ["GOAL", "yes"])
    }
    state.apply(.analysed(ChatFindings(run: 1, highlights: found)))
    let store = Store(initialState: state, lane: DirectLane()) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    let rows = try lists(of: graph)[0]
    #expect(rows.map(\.id) == ["highlight-3", "highlight-4", "highlight-5"])
    #expect(
      rows[0].node
        == .row([
          .text("22:18:20", .faint), .text("140 messages in 12 s", .strong),
          .text("12.3/s after 2.0/s", .faint), .text("GOAL yes"),
        ]))
  }

  private func lists(of graph: ViewGraph) throws -> [[ViewNode.ListRow]] {
    guard case .panel(_, .column(let lines)) = try #require(graph.output(of: graph.rootID))
    else { return [] }
    return lines.compactMap { if case .list(let rows, _) = $0.withoutActs { rows } else { nil } }
  }

  @Test func `the original channel and the kind of a message are drawn dimmed`() throws {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    let shared = ChatMessage(
      id: "1", userID: "u", userName: "Ann", text: "hi", channel: "next", kind: "ritual")
    store.send(.messages([TimedMessage(timestamp: 0, message: shared)]))
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(
      try rows(of: graph).map(\.node) == [
        .row([
          .text("(next)", .faint), .text("[ritual]", .faint), .text("Ann:", .person),
          .text("hi"),
        ])
      ])
  }

  @Test func `a reply shows the author of the answered message, even in a restored chat`() throws {
    let cheer = ChatMessage(
      id: "m4", userID: "v", userName: "Bo", text: "Cheer5", replyTo: "m2", bits: 5)
    let act = ChatMessage(
      id: "m5", userID: "v", userName: "Bo", text: "waves", replyTo: "m1", isAction: true)
    let before = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    before.send(
      .messages(
        [message(1), message(2, by: "kim", answering: 1), message(3, answering: 99)]
          + [cheer, act].map { TimedMessage(timestamp: 1_000, message: $0) }))
    let saved = try JSONDecoder().decode(
      ChatFeature.State.self, from: JSONEncoder().encode(before.state))
    #expect(saved.messages == before.state.messages)
    let store = Store(initialState: saved, lane: DirectLane(), notification: .batched) {
      ChatFeature()
    }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    #expect(
      try rows(of: graph).map(\.node) == [
        .row([.text("ANN:", .person), .text("ann says 1")]),
        .row([.text("KIM", .person), .text("> ANN:", .faint), .text("kim says 2")]),
        .row([.text("ANN:", .person), .text("ann says 3")]),
        .row([
          .person(.init("Bo", remark: "with 5 bits")), .text("> KIM:", .faint), .text("Cheer5"),
        ]),
        .row([.text("Bo", .person), .text("> ANN", .faint), .text("waves")]),
      ])
  }

  @Test
  func
    `a name says what somebody is to the room, by badges, how much they cheered, and its colour`()
    throws
  {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    let messages = [
      ChatMessage(
        id: "1", userID: "u", userName: "Ann",
        badges: "subscriber/3012,broadcaster/1,turbo/1,\u{1B}[2J", text: "hi"),
      ChatMessage(
        id: "2", userID: "v", userName: "Bob", badges: "vipx/1,VIP,moderator", text: "Cheer1",
        bits: 1),
      ChatMessage(
        id: "4", userID: "x", userName: "[mod] Di", color: NameColor(rgb: 0x0000FF), text: "no"),
      ChatMessage(id: "5", userID: "y", userName: "Ed", text: "waves", isAction: true),
      ChatMessage(
        id: "6", userID: "z", userName: "Flo", badges: "founder/0,subscriber/3", text: "no"),
      ChatMessage(
        id: "3", userID: "w", userName: "Cy",
        badges: Array(repeating: "x", count: 16).joined(separator: ",") + ",vip", text: "no"),
    ]
    store.send(.messages(messages.map { TimedMessage(timestamp: 0, message: $0) }))
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(
      try rows(of: graph).map(\.node) == [
        .row([.person(.init("Ann:", standing: "host")), .text("hi")]),
        .row([
          .person(.init("Bob", standing: "mod", remark: "with 1 bit:")), .text("Cheer1"),
        ]),
        .row([.person(.init("[mod] Di:", color: 0x0000FF)), .text("no")]),
        .row([.text("Ed", .person), .text("waves")]),
        .row([.person(.init("Flo:", standing: "sub")), .text("no")]),
        .row([.text("Cy:", .person), .text("no")]),
      ])
    // The number of elements does not depend on the known details of people.
    #expect(try Set(rows(of: graph).map(\.node.elementCount)) == [2])
  }

  @Test func `an action that changes nothing visible causes no evaluation of a view`() {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    // The moderation is counted and remembered for later messages, but changes nothing visible.
    store.send(.timedOut(timeout("ann"), at: 5))
    store.deliverChanges()
    #expect(graph.evaluateFrame().isEmpty)
    #expect(graph.statistics["ChatView"]?.evaluations == 1)
  }

  @Test
  func `a frame draws only the newest chat messages, but subscribers to the list receive more`()
    throws
  {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    func seen() -> [String] {
      var rows: [ViewNode.ListRow] = []
      graph.forEachView { _, _, output in
        guard case .panel(_, .column(let lines)) = output,
          case .list(let list, _)? = lines.last?.withoutActs
        else { return }
        rows = list
      }
      return rows.map(\.id)
    }
    for count in [0, 5, 12, 13, 100] {
      if count > 0 {
        store.send(.messages((store.state.total + 1...count).map { message($0, at: 0) }))
      }
      store.deliverChanges()
      graph.evaluateFrame()
      #expect(try rows(of: graph).count == min(count, ChatView.rows))
      let most = ChatView.rows + ChatView.earlierRows
      #expect(seen() == (1...max(1, count)).suffix(min(count, most)).map(String.init))
    }
    store.send(.reading(.scrolledBack))
    store.send(.messages((101...110).map { message($0, at: 0) }))
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(seen() == (41...100).map(String.init), "what is unread is not seen")
  }

  @Test
  func `storing the history of the message rate causes no additional evaluations of the chat`()
    throws
  {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    for second in 1...60 {
      store.send(.messages([message(second, at: Timestamp(second * 1_000))]))
      store.send(.ticked(at: Timestamp(second * 1_000)))
      store.deliverChanges()
      graph.evaluateFrame()
    }
    // One sample for each five seconds completed by the end of the sixtieth second.
    #expect(store.state.rateHistory?.samples.count == 12)
    #expect(graph.statistics["ChatView"]?.evaluations == 60)
    #expect(graph.statistics["ChatView"]?.avoidable == 0)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a chat view that reuses its rows shows the same rows as a new one`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let store = Store(
      initialState: ChatFeature.State(historyLimit: 30), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    var (sent, differing) = (0, 0)
    func send() -> ChatFeature.Action {
      let batch = (0...Int.random(in: 0...3, using: &random)).map { _ in
        sent += 1
        let answered = Bool.random(using: &random) ? max(1, sent - 3) : nil
        return message(
          sent, by: ["ann", "bob", "cy"].randomElement(using: &random)!, answering: answered)
      }
      return .messages(batch)
    }
    for step in 0..<400 {
      let user = ["ann", "bob"].randomElement(using: &random)!
      switch Int.random(in: 0..<12, using: &random) {
      case 0: store.send(.messageDeleted(Text("m\(max(1, sent - 4))"), at: 1_000))
      case 1: store.send(.timedOut(timeout(user), at: 1_000))
      case 2:
        let filter = step % 2 == 0 ? ChatFilter(person: Text(user)) : nil
        store.send(.reading(.filterChanged(filter)))
      case 3: store.send(.reading(.mentionedNamesChanged(step % 3 == 0 ? [] : [user])))
      case 4: store.send(.reading(step % 2 == 0 ? .scrolledBack : .scrolledToEnd))
      case 5: if step % 4 == 0 { store.send(.cleared(at: 1_000)) }
      default: store.send(send())
      }
      while store.state.isReviewing { store.send(.reviewContinued) }
      store.deliverChanges()
      graph.evaluateFrame()
      let fresh = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
      fresh.evaluateFrame()
      if graph.output(of: graph.rootID) != fresh.output(of: fresh.rootID) { differing += 1 }
    }
    #expect(differing == 0)
    #expect(sent > 400 && store.state.total == sent)
  }

  private func rows(of graph: ViewGraph) throws -> [ViewNode.ListRow] {
    guard case .panel(_, .column(let lines)) = try #require(graph.output(of: graph.rootID)),
      case .list(let rows, scrolling: "messages")? = lines.last?.withoutActs
    else {
      Issue.record("The chat must be a panel that ends with a list.")
      return []
    }
    return rows
  }
}

extension ViewNode {
  fileprivate var withoutActs: ViewNode {
    if case .acting(_, let inner) = self { inner } else { self }
  }
}
