import ChatFeature
import Composable
import LiveEvents
import Testing
import ViewGraph

@Suite struct ChatViewTests {
  private struct DirectLane: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  @Test func aMessageIsOneRowThatKeepsItsIdentity() throws {
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
    #expect(second.last?.node == .row([.text("BOB", .strong), .text("bob says 21")]))
  }

  @Test func anActionThatChangesNothingShownEvaluatesNothing() {
    let store = Store(
      initialState: ChatFeature.State(), lane: DirectLane(), notification: .batched
    ) { ChatFeature() }
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    // Counted, and remembered for messages to come, but shown nowhere.
    store.send(.timedOut(timeout("ann"), at: 5))
    store.deliverChanges()
    #expect(graph.evaluateFrame().isEmpty)
    #expect(graph.statistics["ChatView"]?.evaluations == 1)
  }

  private func rows(of graph: ViewGraph) throws -> [ViewNode.ListRow] {
    guard case .panel(_, .column(let lines)) = try #require(graph.output(of: graph.rootID)),
      case .list(let rows)? = lines.last
    else {
      Issue.record("the chat is a panel that ends with a list")
      return []
    }
    return rows
  }
}
