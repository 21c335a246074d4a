import ChatFeature
import Composable
import ComposableTesting
import HostFeature
import LiveEvents
import TestSupport
import Testing

/// The analysis of a chat within its host.
@Suite struct ChatAnalysisTests {
  private func makeStore(analysing: Bool = true) -> TestStore<HostFeature.State, HostFeature.Action>
  {
    var state = HostFeature.State()
    state.analysesChat = analysing ? true : nil
    let client = ChatAnalysis { _ in
      try await untilCancelled()
      return ChatFindings(run: 1)
    }
    let store = TestStore(initialState: state) {
      HostFeature(dependencies: .test().overriding(client))
    }
    store.exhaustivity = .off
    return store
  }

  private func messages(_ count: Int) -> HostFeature.Action {
    .chat(
      .messages(
        (0..<count).map {
          TimedMessage(
            timestamp: 0,
            message: ChatMessage(id: "\($0)", userID: "u", userName: "U", text: "hello there \($0)")
          )
        }))
  }

  @Test func `if the host requested an analysis, a new chat is analysed until the chat ends`() async
  {
    for analysing in [false, true] {
      let store = makeStore(analysing: analysing)
      let effects = await store.send(messages(3))
      #expect(effects.isRunning == analysing)
      #expect((store.state.chat?.waves != nil) == analysing)
      await store.send(.roomClosed)
      #expect(!effects.isRunning && store.state.chat == nil)
      await store.finish()
    }
  }

  @Test func `the analysis of a running chat can be started and stopped`() async {
    let store = makeStore(analysing: false)
    await store.send(messages(3))
    await store.send(.chatAnalysisWanted(true))
    await store.receive(\.chat)
    let effects = await store.send(messages(3))
    #expect(effects.isRunning)
    await store.send(.chatAnalysisWanted(false))
    await store.receive(\.chat)
    #expect(!effects.isRunning && store.state.chat?.waves == nil && store.state.analysesChat == nil)
    await store.finish()
  }

  @Test func `neither findings nor a request for an analysis creates a chat`() {
    let store = Store(initialState: HostFeature.State(), lane: DirectLane()) { HostFeature() }
    store.send(.chat(.analysed(ChatFindings(run: 1))))
    store.send(.chatAnalysisWanted(true))
    #expect(store.state.chat == nil)
  }

  @Test func `the findings of an analysis are a separate event`() {
    let findings = ChatFindings(run: 3)
    #expect(
      HostFeature.Action.chat(.analysed(findings)).input == .event(.chat(.findings(findings))))
    #expect(HostFeature.Action.chat(.analysisResumed).input == nil)
  }

  @Test func `the chat asks for ticks while a burst of duplicates can end`() {
    var state = HostFeature.State()
    state.makeBurst()
    #expect(state.wantsTicks)
  }
}

extension HostFeature.State {
  /// Adds a silent chat with a burst of duplicates.
  fileprivate mutating func makeBurst() {
    var chat = ChatFeature.State()
    chat.beginAnalysis()
    let batch = (0..<2).map {
      TimedMessage(
        timestamp: 0,
        message: ChatMessage(id: "\($0)", userID: "u", userName: "U", text: "hello there"))
    }
    let members = ChatFindings.Members(offset: 0, count: 2, burst: 1)
    let findings = ChatFindings(run: 1, samples: ["hello there"], members: [members])
    for action in [.messages(batch), .analysed(findings), .ticked(at: 5_000)]
      as [ChatFeature.Action]
    {
      _ = ChatFeature().reduce(into: &chat, action: action)
    }
    self.chat = chat
  }
}
