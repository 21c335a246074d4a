import Analysis
import ChatFeature
import Composable
import ComposableTesting
import Foundation
import LiveEvents
import Testing

/// The highlights of the running chat. `BurstTests` covers bursts of duplicates, and the start and
/// end of the analysis.
@Suite struct HighlightTests {
  private typealias TestedStore = TestStore<ChatFeature.State, ChatFeature.Action>

  private let analyst = Analyst()

  private func makeStore() -> TestedStore {
    var state = ChatFeature.State()
    state.beginAnalysis()
    return TestStore(initialState: state) {
      ChatFeature(dependencies: .test().overriding(analyst.client))
    }
  }

  /// Sends an action. Other tests check the effects of the analysis on everything except
  /// highlights.
  private func send(_ action: ChatFeature.Action, to store: TestedStore) async {
    await store.send(action) { $0.apply(action) }
  }

  /// Sends a message, and ends the resulting run of the analysis with these findings.
  private func run(
    _ number: Int, _ found: [ChatHighlight], _ text: String? = nil, by user: String = "ann",
    in store: TestedStore
  ) async {
    await send(.messages([message(number, by: user, at: 20_000, text)]), to: store)
    await receive(ChatFindings(run: number, highlights: found), in: store)
  }

  private func receive(_ findings: ChatFindings, in store: TestedStore) async {
    analyst.answer(findings)
    await store.receive(.analysed(findings)) { $0.apply(.analysed(findings)) }
  }

  private func highlight(
    at second: Int = 10, seconds: Int = 12, words: [Text] = []
  ) -> ChatHighlight {
    ChatHighlight(
      startedAt: Timestamp(second) * 1_000, seconds: seconds, messages: 140, busiest: 123,
      usual: 20, words: words)
  }

  @Test func `a highlight is added to the timeline, and grows there while it lasts`() async {
    let store = makeStore()
    #expect(store.state.highlights == nil)
    await run(1, [], in: store)
    #expect(store.state.highlights == nil)
    await run(2, [highlight()], in: store)
    await run(3, [highlight(seconds: 15, words: ["GOAL"]), highlight(at: 60)], in: store)
    #expect(
      store.state.highlights?.entries == [
        highlight(seconds: 15, words: ["GOAL"]), highlight(at: 60),
      ])
    #expect(store.state.highlights?.total == 2)
    await store.finish()
  }

  @Test func `a failed run of the analysis does not change the timeline of highlights`() async {
    let store = makeStore()
    await run(1, [highlight(words: ["GOAL"])], in: store)
    await send(.messages([message(2)]), to: store)
    analyst.fail()
    let failed = ChatFindings(run: 2, unanalysed: 1)
    await store.receive(.analysed(failed)) { $0.apply(.analysed(failed)) }
    #expect(store.state.highlights?.entries == [highlight(words: ["GOAL"])])
    await store.finish()
  }

  @Test func `ending the analysis removes the highlights, and the cancelled run adds no highlight`()
    async
  {
    let store = makeStore()
    await run(1, [highlight()], in: store)
    await send(.messages([message(2)]), to: store)
    await send(.analysisWanted(false), to: store)
    #expect(store.state.highlights == nil)
    analyst.answer(ChatFindings(run: 2, highlights: [highlight()]))
    await send(.analysisWanted(true), to: store)
    #expect(store.state.highlights == nil)
    await store.finish()
  }

  @Test func `highlights found by a run that is not active are ignored`() async {
    let store = makeStore()
    let late = ChatFindings(run: 1, highlights: [highlight()])
    await store.send(.analysed(late))
    await run(1, [], in: store)
    await store.send(.analysed(late))
    await send(.messages([message(2)]), to: store)
    await store.send(.analysed(late))
    #expect(store.state.highlights == nil)
    await receive(ChatFindings(run: 2), in: store)
    await store.finish()
  }

  @Test func `the timeline keeps a maximum number of highlights`() async {
    let store = makeStore()
    let all = (1...40).map { highlight(at: $0 * 60) }
    await run(1, all, in: store)
    await run(2, (41...80).map { highlight(at: $0 * 60) }, in: store)
    #expect(store.state.highlights?.entries.count == HighlightTimeline.limit)
    #expect(store.state.highlights?.entries.first?.startedAt == Timestamp(17 * 60_000))
    #expect(store.state.highlights?.total == 80)
    await store.finish()
  }

  // MARK: Moderation

  @Test func `words of deleted messages are removed from highlights and do not return`() async {
    let store = makeStore()
    await run(1, [], "slur goal", by: "bot", in: store)
    await run(2, [highlight(words: ["slur", "GOAL"])], "goal!! Goal", in: store)
    await send(.messageDeleted("m1", at: 20_000), to: store)
    #expect(store.state.highlights?.entries.first?.words == ["GOAL"])
    // The search still knows the deleted word.
    await run(3, [highlight(words: ["SLUR", "GOAL", "shot"])], in: store)
    #expect(store.state.highlights?.entries.first?.words == ["GOAL", "shot"])
    #expect(store.state.highlights?.entries.first?.messages == 140)
    // Another message contains the word a minute later.
    await send(.messages([message(4, at: 81_000, "slur")]), to: store)
    await receive(
      ChatFindings(run: 4, highlights: [highlight(at: 70, words: ["slur"])]), in: store)
    #expect(store.state.highlights?.entries.last?.words == ["slur"])
    await store.finish()
  }

  @Test func `words of messages deleted during a run are excluded from its highlights`() async {
    let store = makeStore()
    await send(.messages([message(1, by: "bot", at: 20_000, "slur goal")]), to: store)
    await send(.timedOut(timeout("bot"), at: 20_000), to: store)
    await receive(
      ChatFindings(run: 1, highlights: [highlight(words: ["slur", "goal"])]), in: store)
    #expect(store.state.highlights?.entries == [highlight()])
    await store.finish()
  }

  @Test func `a clear removes the words of existing highlights, but later highlights have words`()
    async
  {
    let store = makeStore()
    await run(1, [highlight(words: ["GOAL"])], "GOAL", in: store)
    await send(.cleared(at: 20_000), to: store)
    #expect(store.state.highlights?.entries == [highlight()])
    await run(2, [highlight(words: ["GOAL"]), highlight(at: 60, words: ["GOAL"])], in: store)
    #expect(store.state.highlights?.entries == [highlight(), highlight(at: 60, words: ["GOAL"])])
    await store.finish()
  }

  @Test func `a saved chat contains its highlights and the words hidden from them`() async throws {
    let store = makeStore()
    await run(1, [highlight(words: ["slur", "GOAL"])], "slur", in: store)
    await send(.messageDeleted("m1", at: 20_000), to: store)
    let text = try JSONEncoder().encode(store.state)
    var copy = try JSONDecoder().decode(ChatFeature.State.self, from: text)
    #expect(copy == store.state)
    await run(2, [highlight(words: ["slur"])], in: store)
    copy.apply(
      .messages([message(2, at: 20_000)]),
      .analysed(ChatFindings(run: 2, highlights: [highlight(words: ["slur"])])))
    #expect(copy == store.state && copy.highlights?.entries.first?.words == ["GOAL"])
    await store.finish()
  }
}
