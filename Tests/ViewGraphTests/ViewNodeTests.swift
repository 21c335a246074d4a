import Composable
import ComposableTesting
import Testing
import ViewGraph

@Suite struct ViewNodeTests {
  private func row(_ number: Int) -> ViewNode.ListRow { .init(id: "\(number)", .text("\(number)")) }

  @Test func `each drawn node counts as an element, and so does each row of a table`() {
    let panel = ViewNode.panel(
      .init("p", title: "P", priority: 0),
      .column([
        .row([.badge("LIVE", .active), .sparkline([1, 2]), .empty]),
        .person(.init("Ann", standing: "mod", remark: "with 5 bits:", color: 0)),
        .gauge(label: "zoom", value: 0.5, text: "50%"),
        .table([.init("a"), .init("b")], [[.text("1"), .text("2")], [.text("3"), .empty]]),
        .list([row(1), row(2)]),
      ]))
    #expect(panel.elementCount == 1 + 2 + 1 + 1 + 2 + 4)
  }

  @Test
  func `texts of views are compared by bytes, so combining marks do not slow the comparison down`()
  {
    let (composed, decomposed) = (ViewNode.text("\u{E9}"), ViewNode.text("e\u{301}"))
    #expect(composed != decomposed)
    #expect(ViewNode.list([.init(id: "1", composed)]) != .list([.init(id: "1", decomposed)]))
    #expect(ViewNode.row([composed, .empty]) == .row([.text("\u{E9}"), .empty]))
    #expect(ViewNode.text("a") != .badge("a", .normal))
    #expect(ViewNode.text("a") != .text("a", .strong))
    #expect(ViewNode.person(.init("\u{E9}")) == .person(.init("\u{E9}")))
    #expect(ViewNode.person(.init("\u{E9}")) != .person(.init("e\u{301}")))
    #expect(ViewNode.person(.init("a", color: 0)) != .person(.init("a")))
    #expect(ViewNode.person(.init("a", standing: "mod")) != .person(.init("a", remark: "mod")))
  }

  @Test
  func `subscribers to a list get earlier rows that frames do not draw`() {
    let store = Store(
      initialState: ScreenState(), lane: ManualLane(), notification: .batched
    ) { ScreenReducer() }
    let graph = ViewGraph(LongView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    let drawn = ViewNode.column([.list([row(9)]), .list([row(2)], scrolling: "all")])
    #expect(graph.output(of: graph.rootID) == drawn)
    var seen: [ViewNode] = []
    graph.forEachView { _, _, output in seen.append(output) }
    #expect(
      seen == [.column([.list([row(9)]), .list([row(0), row(1), row(2)], scrolling: "all")])])
  }

  private struct LongView: View {
    static let name = "LongView"

    func body(_ state: Observed<ScreenState>, _ context: ViewContext) -> ViewNode {
      .column([.list([row(9)]), .list([row(2)], scrolling: "all")])
    }

    func earlierRows(_ state: ScreenState) -> [ViewNode.ListRow] { [row(0), row(1)] }

    private func row(_ number: Int) -> ViewNode.ListRow {
      .init(id: "\(number)", .text("\(number)"))
    }
  }
}
