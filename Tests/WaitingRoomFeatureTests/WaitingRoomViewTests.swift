import Composable
import ComposableTesting
import LiveEvents
import Testing
import ViewGraph
import WaitingRoomFeature

@Suite struct WaitingRoomViewTests {
  @Test func `the people who have waited longest are shown as rows that keep their identity`() {
    let store = Store(
      initialState: WaitingRoomFeature.State(), lane: DirectLane(), notification: .batched
    ) { WaitingRoomFeature() }
    let graph = ViewGraph(
      WaitingRoomView(), place: store.place, clock: { 0 }, read: { store.state })
    let people = (0..<10).map { Person(id: Text("p\($0)"), name: Text("P\($0)")) }
    store.send(.changed(people.map { .joined($0) } + [.admitted(people[0])]))
    store.deliverChanges()
    graph.evaluateFrame()
    let rows = (1...8).map {
      ViewNode.ListRow(id: "p\($0)", .row([.text("P\($0)", .person), .text("(p\($0))", .faint)]))
    }
    let expected = ViewNode.panel(
      .init("waitingRoom", title: "Waiting room", priority: 2, usefulRows: 10),
      .column([
        .row([.text("9 waiting", .strong), .text("1 admitted")])
          .acting(ViewAct("let all in", "Admit", ["all": .flag(true)])),
        .list(rows).acting(ViewAct("let in", "Admit", input: .row("user"))),
        .text("and 1 more", .faint),
      ]))
    #expect(graph.output(of: graph.rootID) == expected)
  }

  @Test func `the departure of a person who was not waiting evaluates no view`() {
    let store = Store(
      initialState: WaitingRoomFeature.State(), lane: DirectLane(), notification: .batched
    ) { WaitingRoomFeature() }
    let graph = ViewGraph(
      WaitingRoomView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    store.send(.changed([.left(Person(id: "p", name: "P"))]))
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(graph.statistics["WaitingRoomView"]?.evaluations == 1)
  }
}
