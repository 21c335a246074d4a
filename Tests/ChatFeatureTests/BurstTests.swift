import Analysis
import ChatFeature
import Composable
import ComposableTesting
import Foundation
import LiveEvents
import Synchronization
import Testing

/// Returns nearly identical messages, as sent by bots.
private func spam(_ id: Int, by user: String = "bot", at time: Timestamp = 1_000) -> TimedMessage {
  message(
    id, by: user, at: time, "Buy CHEAP followers \(id) at example dot com\(id % 3 == 0 ? "!" : "")")
}

@Suite struct BurstTests {
  private typealias TestedStore = TestStore<ChatFeature.State, ChatFeature.Action>

  private let analyst = Analyst()

  private func makeStore(_ client: ChatAnalysis? = nil, history: Int = 500) -> TestedStore {
    var state = ChatFeature.State(historyLimit: history)
    state.beginAnalysis()
    let dependencies = Dependencies.test().overriding(client ?? analyst.client)
    return TestStore(initialState: state) { ChatFeature(dependencies: dependencies) }
  }

  /// Sends an action. Other tests check the effects of the analysis on everything except bursts of
  /// duplicates.
  private func send(_ action: ChatFeature.Action, to store: TestedStore) async {
    await store.send(action) { $0.apply(action) }
  }

  private func receive(_ findings: ChatFindings, in store: TestedStore) async {
    analyst.answer(findings)
    await store.receive(.analysed(findings)) { $0.apply(.analysed(findings)) }
  }

  /// Sends five messages, which the first run finds to be a burst.
  private func findBurst(in store: TestedStore, by users: [String] = ["ann", "bob"]) async {
    let batch = (1...5).map { spam($0, by: users[$0 % users.count], at: Timestamp($0) * 1_000) }
    await send(.messages(batch), to: store)
    let members = ChatFindings.Members(offset: 0, count: 5, burst: 1)
    await receive(ChatFindings(run: 1, samples: ["buy"], members: [members]), in: store)
  }

  @Test func `a burst of duplicates is one row that shows how many messages and people it has`()
    async throws
  {
    let store = makeStore()
    await findBurst(in: store)
    let wave = try #require(store.state.waves?.current.first)
    #expect(wave.number == 1 && wave.sample == "buy")
    #expect(wave.messages == 5 && wave.people == 2 && wave.peopleAtLeast == nil)
    #expect(wave.firstAt == 1_000 && wave.lastAt == 5_000)
    #expect(store.state.folded?.isEmpty == true && store.state.total == 5)
    #expect(analyst.searches.count == 1)
    await store.finish()
  }

  @Test func `while the analysis is off, no bursts are searched`() async {
    let store = TestedStore(initialState: ChatFeature.State()) {
      ChatFeature(dependencies: .test())
    }
    await send(.messages((1...9).map { spam($0) }), to: store)
    #expect(store.state.waves == nil && store.state.folded == nil)
    await store.finish()
  }

  @Test
  func `a test that uses an analysis without setting one fails with the name of the dependency`()
    async
  {
    await withKnownIssue {
      let store = TestedStore(initialState: ChatFeature.State()) {
        ChatFeature(dependencies: .test())
      }
      store.exhaustivity = .off
      await store.send(.analysisWanted(true))
      await store.send(.messages([spam(1)]))
      await store.skipInFlightEffects(strict: false)
      await store.skipReceivedActions(strict: false)
    } matching: {
      "\($0)".contains("'ChatAnalysis'")
    }
  }

  @Test
  func `messages that arrive during a run of the analysis are processed by the next run`()
    async
  {
    let store = makeStore()
    await send(.messages([spam(1), spam(2)]), to: store)
    await send(.messages([spam(3)]), to: store)
    await send(.messages([spam(4)]), to: store)
    #expect(analyst.searches.map(\.batch.count) == [2])
    await receive(ChatFindings(run: 1), in: store)
    #expect(analyst.searches.map(\.run) == [1, 2])
    #expect(analyst.searches.map(\.batch.count) == [2, 2])
    #expect(analyst.searches.map(\.batch.first) == [0, 2])
    await receive(ChatFindings(run: 2), in: store)
    #expect(store.state.folded?.map(\.number) == [1, 2, 3, 4])
    await store.finish()
  }

  @Test func `messages of earlier batches can join a burst that is found later`() async {
    let store = makeStore()
    await send(.messages([message(1), spam(2, at: 700), spam(3)]), to: store)
    await receive(ChatFindings(run: 1), in: store)
    #expect(store.state.folded?.map(\.number) == [1, 2, 3])
    await send(.messages([spam(4), message(5)]), to: store)
    await receive(
      ChatFindings(
        run: 2, samples: ["buy"],
        members: [.init(offset: -2, count: 2, burst: 1), .init(offset: 0, count: 1, burst: 1)]),
      in: store)
    #expect(store.state.waves?.current.map(\.messages) == [3])
    #expect(store.state.waves?.current.first?.firstAt == 700)
    #expect(store.state.folded?.map(\.number) == [1, 5])
    #expect(store.state.messages.count == 5)
    await store.finish()
  }

  @Test func `two merged bursts keep the number of the older burst`() async {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messages((6...9).map { spam($0, by: $0 < 8 ? "bob" : "cid") }), to: store)
    await receive(
      ChatFindings(run: 2, samples: ["BUY"], members: [.init(offset: 0, count: 3, burst: 2)]),
      in: store)
    #expect(store.state.waves?.current.map(\.number) == [1, 2])
    await send(.messages([spam(10, by: "dan")]), to: store)
    await receive(
      ChatFindings(
        run: 3, mergers: [.init(burst: 2, into: 1)], members: [.init(offset: 0, count: 1, burst: 2)]
      ),
      in: store)
    #expect(store.state.waves?.current.map(\.number) == [1])
    #expect(store.state.waves?.current.map(\.messages) == [9])
    #expect(store.state.waves?.current.map(\.people) == [4])
    // The removed message leaves the merged burst.
    await send(.timedOut(timeout("cid"), at: 9_000), to: store)
    #expect(store.state.waves?.current.map(\.messages) == [8])
    await store.finish()
  }

  // MARK: Ends of runs

  @Test
  func `after a failed run of the analysis, its messages are skipped and the next run begins`()
    async
  {
    let store = makeStore()
    await send(.messages([spam(1), spam(2)]), to: store)
    await send(.messages([spam(3)]), to: store)
    analyst.fail()
    let failed = ChatFindings(run: 1, unanalysed: 2)
    await store.receive(.analysed(failed)) { $0.apply(.analysed(failed)) }
    #expect(store.state.waves?.unanalysed == 2)
    #expect(analyst.searches.map(\.run) == [1, 2])
    await receive(ChatFindings(run: 2), in: store)
    await store.finish()
  }

  @Test func `the analysis can be ended and restarted during a run`() async {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messages([spam(6)]), to: store)
    await send(.analysisWanted(false), to: store)
    #expect(store.state.waves == nil && store.state.folded == nil)
    await send(.messages([spam(7)]), to: store)
    await send(.analysisWanted(true), to: store)
    #expect(store.state.folded?.count == 7)
    await send(.messages([spam(8)]), to: store)
    // The first run is repeated, because a recording that begins here contains no earlier run.
    #expect(analyst.searches.map(\.run) == [1, 2, 1])
    await send(.analysisWanted(true), to: store)
    analyst.answer(ChatFindings(run: 1))
    await store.finish()
  }

  @Test func `findings from a run of the analysis that is not active are ignored`() async {
    let store = makeStore()
    let late = ChatFindings(
      run: 1, samples: ["buy"], members: [.init(offset: 0, count: 1, burst: 1)])
    await store.send(.analysed(late))
    await findBurst(in: store)
    await store.send(.analysed(late))
    await send(.messages([spam(6)]), to: store)
    await store.send(.analysed(late))
    await receive(ChatFindings(run: 2), in: store)
    await store.finish()
  }

  @Test func `after a restart, the batch of the interrupted run is analysed again`() async {
    var state = ChatFeature.State()
    state.beginAnalysis()
    state.apply(.messages([spam(1), spam(2)]), .messages([spam(3)]))
    let store = TestedStore(initialState: state) {
      ChatFeature(dependencies: .test().overriding(analyst.client))
    }
    await store.send(.analysisResumed)
    #expect(analyst.searches.map(\.run) == [1])
    #expect(analyst.searches.map(\.batch.count) == [2])
    await receive(ChatFindings(run: 1), in: store)
    await receive(ChatFindings(run: 2), in: store)
    await store.send(.analysisResumed)
    await store.finish()
  }

  // MARK: Moderation

  @Test func `a deleted message leaves its burst, as do all messages of a timed-out person`() async
  {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messageDeleted("m1", at: 6_000), to: store)
    #expect(store.state.waves?.current.map(\.messages) == [4])
    #expect(store.state.waves?.current.map(\.people) == [2])
    // Deleting the same message again has no effect.
    await send(.messageDeleted("m1", at: 6_000), to: store)
    #expect(store.state.waves?.current.map(\.messages) == [4])
    await send(.timedOut(timeout("bob"), at: 6_000), to: store)
    #expect(store.state.waves?.current.map(\.messages) == [2])
    #expect(store.state.waves?.current.map(\.people) == [1])
    await send(.timedOut(timeout("ann"), at: 6_000), to: store)
    #expect(store.state.waves?.current.isEmpty == true)
    #expect(store.state.total == 5 && store.state.deleted == 5)
    await store.finish()
  }

  @Test func `a message that is deleted during a run does not join a burst`() async {
    let store = makeStore()
    await send(.messages((1...7).map { spam($0, by: $0 == 7 ? "ann" : "bot") }), to: store)
    await send(.messageDeleted("m2", at: 1_000), to: store)
    await send(.timedOut(timeout("ann"), at: 1_000), to: store)
    let all = ChatFindings.Members(offset: 0, count: 7, burst: 1)
    await receive(ChatFindings(run: 1, samples: ["buy"], members: [all]), in: store)
    #expect(store.state.waves?.current.map(\.messages) == [5])
    #expect(store.state.waves?.current.map(\.people) == [1])
    await store.finish()
  }

  @Test func `a cleared chat has no bursts, even if a late finding joins cleared messages to one`()
    async
  {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messages([spam(6), message(7)]), to: store)
    await send(.cleared(at: 6_000), to: store)
    #expect(store.state.waves?.current.isEmpty == true)
    await receive(
      ChatFindings(run: 2, members: [.init(offset: 0, count: 1, burst: 1)]), in: store)
    #expect(store.state.waves?.current.isEmpty == true)
    #expect(store.state.folded?.isEmpty == true)
    await store.finish()
  }

  @Test func `clearing the chat also removes the people who are stored for counting`() async throws
  {
    let store = makeStore()
    let size = ChatFindings.batchLimit
    // The first batch leaves the window in which messages can be deleted individually.
    for run in 1...3 {
      let batch = (0..<size).map { spam($0, by: "bot\(run * size + $0)") }
      await send(.messages(batch), to: store)
      let members = ChatFindings.Members(offset: 0, count: size, burst: 1)
      await receive(
        ChatFindings(run: run, samples: run == 1 ? ["buy"] : [], members: [members]), in: store)
    }
    #expect(store.state.waves?.current.map(\.people) == [3 * size])
    await send(.cleared(at: 2_000), to: store)
    let text = String(decoding: try JSONEncoder().encode(store.state), as: UTF8.self)
    #expect(text.contains(#""peopleCount":0"#))
    await store.finish()
  }

  @Test func `each person is counted once in a burst, even after other people were timed out`()
    async
  {
    let people = 300
    let store = makeStore()
    let all = (1...people * 2).map { spam($0, by: "bot\($0 % people)") }
    await send(.messages(all), to: store)
    let members = ChatFindings.Members(offset: 0, count: all.count, burst: 1)
    await receive(ChatFindings(run: 1, samples: ["buy"], members: [members]), in: store)
    for person in stride(from: 0, to: people, by: 3) {
      await send(.timedOut(timeout("bot\(person)"), at: 1_000), to: store)
    }
    #expect(store.state.waves?.current.map(\.people) == [200])
    #expect(store.state.waves?.current.map(\.messages) == [400])
    let again = (0..<people).map { spam($0 + 1_000, by: "bot\($0)", at: 2_000) }
    await send(.messages(again), to: store)
    await receive(
      ChatFindings(run: 2, members: [.init(offset: 0, count: people, burst: 1)]), in: store)
    #expect(store.state.waves?.current.map(\.people) == [300])
    #expect(store.state.waves?.current.map(\.messages) == [700])
    await store.finish()
  }

  // MARK: Limits

  @Test func `a burst ends after a silence`() async {
    let store = makeStore()
    await findBurst(in: store)
    await send(.ticked(at: 35_000), to: store)
    #expect(store.state.hasBursts)
    await send(.messages([message(6, at: 36_000)]), to: store)
    #expect(!store.state.hasBursts)
    #expect(analyst.searches.last?.waves.isEmpty == true && analyst.searches.last?.newest == 1)
    await receive(ChatFindings(run: 2), in: store)
    // The messages of the ended burst do not reappear.
    #expect(store.state.folded?.map(\.number) == [6])
    await store.finish()
  }

  @Test func `a burst ends when enough time has passed, but never during a run of the analysis`()
    async
  {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messages([message(6, at: 5_000)]), to: store)
    await send(.ticked(at: 36_000), to: store)
    #expect(store.state.hasBursts)
    await receive(ChatFindings(run: 2), in: store)
    #expect(!store.state.hasBursts)
    await store.finish()
  }

  @Test
  func `chat messages that exceed the analysis's capacity are counted and shown, but not analysed`()
    async
  {
    let store = makeStore()
    await send(.messages([spam(0)]), to: store)
    let flood = (1...ChatFindings.batchLimit + 3).map { message($0) }
    await send(.messages(flood), to: store)
    #expect(store.state.waves?.unanalysed == 3)
    await receive(ChatFindings(run: 1), in: store)
    await receive(ChatFindings(run: 2), in: store)
    #expect(store.state.folded?.last?.number == ChatFindings.batchLimit + 4)
    #expect(store.state.total == ChatFindings.batchLimit + 4)
    await store.finish()
  }

  @Test func `the smallest bursts of duplicates are removed if the chat has too many bursts`() async
  {
    let store = makeStore()
    await send(.messages((1...40).map { spam($0) }), to: store)
    // The third and the last burst have one message each, and all others have two.
    let waves = 1...ChatFindings.burstLimit + 2
    var next = 0
    let members = waves.map { wave in
      let count = wave == 3 || wave == waves.upperBound ? 1 : 2
      defer { next += count }
      return ChatFindings.Members(offset: next, count: count, burst: wave)
    }
    await receive(
      ChatFindings(run: 1, samples: waves.map { Text("sample \($0)") }, members: members), in: store
    )
    #expect(store.state.waves?.current.map(\.number) == waves.filter { $0 != 3 }.dropLast())
    // Messages of the removed bursts are shown like messages outside bursts.
    #expect(store.state.folded?.map(\.number).prefix(2) == [5, 34])
    await store.finish()
  }

  @Test func `invalid findings are ignored, and valid findings in the same event are applied`()
    async
  {
    let store = makeStore()
    await send(.messages((1...9).map { spam($0) }), to: store)
    await receive(
      ChatFindings(
        run: 1, samples: ["buy"],
        mergers: [.init(burst: 1, into: 1), .init(burst: 1, into: 2), .init(burst: 9, into: 1)],
        members: [
          .init(offset: -9, count: 12, burst: 1), .init(offset: 8, count: 90, burst: 1),
          .init(offset: 0, count: 5, burst: 7), .init(offset: 2, count: 1, burst: 1),
        ]), in: store)
    #expect(store.state.waves?.current.map(\.messages) == [4])
    await store.finish()
  }

  // MARK: Snapshots

  @Test func `a saved and restored chat continues its bursts like the original chat`() async throws
  {
    let store = makeStore()
    await findBurst(in: store)
    await send(.messages([spam(6, by: "cid"), message(7)]), to: store)
    await send(.messages([spam(8)]), to: store)
    let text = try JSONEncoder().encode(store.state)
    var copy = try JSONDecoder().decode(ChatFeature.State.self, from: text)
    #expect(copy == store.state)
    let findings = ChatFindings(run: 2, members: [.init(offset: 0, count: 1, burst: 1)])
    copy.apply(.analysed(findings), .timedOut(timeout("ann"), at: 6_000))
    await receive(findings, in: store)
    await send(.timedOut(timeout("ann"), at: 6_000), to: store)
    #expect(copy == store.state)
    await receive(ChatFindings(run: 3), in: store)
    await store.finish()
  }

  // MARK: With a real search

  @Test func `a flood of equal messages among other messages is one row with complete totals`()
    async throws
  {
    let live = ChatAnalysis.live
    let inFlight = Mutex(0)
    let client = ChatAnalysis { search in
      inFlight.withLock { $0 += 1 }
      defer { inFlight.withLock { $0 -= 1 } }
      #expect(inFlight.withLock { $0 } == 1)
      return try await live.search(search)
    }
    let store = makeStore(client)
    store.exhaustivity = .off
    var ids = 0
    var numbers: Set<Int> = []
    for frame in 0..<100 {
      var batch: [TimedMessage] = []
      for part in 0..<250 {
        ids += 1
        let time = Timestamp(frame * 17)
        batch.append(
          part % 5 == 0
            ? message(ids, by: "u\(ids % 700)", at: time, "I wonder about \(words(ids)) today")
            : spam(ids, by: "bot\(ids % 900)", at: time))
      }
      await store.send(.messages(batch))
      if frame % 3 == 2 { await store.receive(\.analysed, timeout: .seconds(20)) }
      numbers.formUnion(store.state.waves?.current.map(\.number) ?? [])
    }
    while store.state.isAnalysing { await store.receive(\.analysed, timeout: .seconds(20)) }
    let waves = try #require(store.state.waves)
    #expect(store.state.total == 25_000 && waves.unanalysed == 0)
    #expect(waves.current.map(\.messages) == [20_000])
    #expect(waves.current.map(\.people) == [720])
    #expect(numbers == [1])
    #expect(store.state.folded?.count == 500)
    #expect(store.state.folded?.allSatisfy { $0.number % 5 == 1 } == true)
    await store.finish()
  }

  /// Returns random words, which two numbers hardly ever share.
  private func words(_ number: Int) -> String {
    var rest = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    return (0..<4).map { _ in
      (0..<5).map { _ in
        defer { rest = rest &* 6_364_136_223_846_793_005 &+ 1 }
        return String(UnicodeScalar(UInt8(97 + (rest >> 33) % 26)))
      }.joined()
    }.joined(separator: " ")
  }
}
