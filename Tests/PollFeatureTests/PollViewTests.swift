import Composable
import ComposableTesting
import LiveEvents
import PollFeature
import Testing
import ViewGraph

@Suite struct PollViewTests {
  private let store = Store(
    initialState: PollFeature.State(), lane: DirectLane(), notification: .batched
  ) { PollFeature() }

  /// Returns the output of the poll's view after these actions.
  private func output(_ actions: PollFeature.Action...) -> ViewNode? {
    let store = store
    let graph = ViewGraph(PollView(), place: store.place, clock: { 0 }, read: { store.state })
    store.send(contentsOf: actions)
    store.deliverChanges()
    graph.evaluateFrame()
    return graph.output(of: graph.rootID)
  }

  private func panel(_ lines: [ViewNode]) -> ViewNode {
    .panel(.init("poll", title: "Poll", priority: 2, minimumRows: 3), .column(lines))
  }

  private func bar(_ id: Int, _ label: String, _ share: Double, _ text: String, won: Bool = false)
    -> ViewNode.ListRow
  {
    .init(id: "\(id)", .gauge(label: label, value: share, text: text, won ? .good : .normal))
  }

  private let question = PollQuestion(
    id: "p", title: "Which map?", options: ["old", "new", "none"], endsAt: 60_000)

  @Test func `an open poll shows its question, the remaining time, and a bar for each option`() {
    let expected = panel([
      .text("Which map?", .strong),
      .row([
        .badge("OPEN", .active), .text("1,500 votes", .strong), .text("ends in 42 s", .warning),
      ]),
      .list([
        bar(0, "old", 0.75, "75% 1,125 votes"), bar(1, "new", 374.0 / 1_500, "25% 374 votes"),
        bar(2, "none", 1.0 / 1_500, "0% 1 vote"),
      ]),
    ])
    #expect(output(.began(question, at: 18_000), .voted([1_125, 374, 1])) == expected)
  }

  @Test func `before the first vote, all bars of a poll are empty`() {
    var question = question
    question.endsAt = nil
    let expected = panel([
      .text("Which map?", .strong),
      .row([.badge("OPEN", .active), .text("0 votes", .strong)]),
      .list([
        bar(0, "old", 0, "0% 0 votes"), bar(1, "new", 0, "0% 0 votes"),
        bar(2, "none", 0, "0% 0 votes"),
      ]),
    ])
    #expect(output(.began(question, at: 0)) == expected)
  }

  @Test func `an ended poll shows its winner`() {
    let expected = panel([
      .text("Which map?", .strong), .row([.badge("ENDED", .faint), .text("4 votes", .strong)]),
      .list([
        bar(0, "old", 0.25, "25% 1 vote"), bar(1, "new", 0.75, "75% 3 votes, winner", won: true),
        bar(2, "none", 0, "0% 0 votes"),
      ]),
    ])
    #expect(
      output(.began(question, at: 0), .voted([1, 3, 0]), .ended(winner: 1)) == expected)
  }

  @Test func `a poll whose time has run out says so`() {
    guard case .panel(_, .column(let lines)) = output(.began(question, at: 60_000)) else {
      Issue.record("The output must be a panel.")
      return
    }
    #expect(
      lines[1]
        == .row([
          .badge("OPEN", .active), .text("0 votes", .strong), .text("time is up", .warning),
        ]))
  }

  @Test(arguments: [[Int.max, .max, .max], [-5, 3, .min], [0, -1, 0]])
  func `a saved poll with impossible numbers is drawn without a crash`(totals: [Int]) {
    guard
      case .panel(_, .column(let lines)) = output(.began(question, at: 0), .voted(totals)),
      case .list(let rows, _) = lines.last
    else {
      Issue.record("The output must contain a list.")
      return
    }
    #expect(rows.count == 3)
  }
}
