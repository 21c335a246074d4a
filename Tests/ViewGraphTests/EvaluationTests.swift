import Composable
import Testing
import ViewGraph

@Suite struct EvaluationTests {
  @Test func `a view is evaluated only when a field that it read has changed`() {
    let screen = DrawnScreen()
    // The parent passes the state of tracked fields down again.
    #expect(screen.send(.title("a")) == ["TrackedView", "ScreenView"])
    #expect(screen.send(.unread) == [])
    #expect(screen.send(.title("a")) == [], "an equal value is not a change")
  }

  @Test func `a change of an ignored child evaluates only the child's view`() {
    let screen = DrawnScreen()
    #expect(screen.send(.ignored(.shown(1))) == ["IgnoredView"])
    #expect(screen.send(.ignored(.hidden(1))) == [], "the child's view does not read this field")
    #expect(screen.records.last?.cause == .ownRead(FieldSet(field: 0)))
    #expect(screen.records.last?.fields == ["shown"])
  }

  @Test
  func `a change of a tracked child evaluates its parent and the parent's children, once each`() {
    let screen = DrawnScreen()
    #expect(screen.send(.tracked(.shown(1))).sorted() == ["ScreenView", "TrackedView"])
    #expect(
      screen.send(.tracked(.hidden(1))).sorted() == ["ScreenView", "TrackedView"],
      "the child did not read the field, but its input changed")
    let tracked = screen.records.last { $0.name == "TrackedView" }
    #expect(tracked?.cause == .changedInput)
    #expect(tracked?.isAvoidable == true)
  }

  @Test func `a view can switch between tracking and ignoring a field at run time`() {
    let all = DrawnScreen(ignored: [])
    #expect(all.send(.ignored(.shown(1))).sorted() == ["IgnoredView", "ScreenView", "TrackedView"])
    let none = DrawnScreen(ignored: .all)
    #expect(none.send(.tracked(.shown(1))) == ["TrackedView"])
  }

  @Test func `many changes between two frames cause one evaluation of a view`() {
    let screen = DrawnScreen()
    let evaluated = screen.send(
      .ignored(.shown(1)), .ignored(.shown(2)), .title("a"), .title("b"), .ignored(.shown(3)))
    #expect(evaluated.sorted() == ["IgnoredView", "ScreenView", "TrackedView"])
    #expect(screen.graph.frames == 2)
  }

  @Test func `a change is not lost if a later action before the same frame changes other fields`() {
    let screen = DrawnScreen()
    #expect(screen.send(.ignored(.shown(1)), .unread) == ["IgnoredView"])
  }

  @Test func `the view of an optional child appears and disappears with the child`() {
    let screen = DrawnScreen()
    #expect(screen.send(.open).contains("OptionalView"))
    #expect(screen.records.first { $0.name == "ScreenView" }?.cause == .presence(4))
    #expect(screen.graph.screen().lines.contains("optional 0"))
    #expect(screen.send(.optional(.shown(7))) == ["OptionalView"])
    #expect(screen.graph.screen().lines.contains("optional 7"))
    #expect(screen.send(.close).contains("ScreenView"))
    #expect(!screen.graph.screen().lines.contains { $0.hasPrefix("optional") })
    #expect(screen.send(.optional(.shown(8))) == [])
    #expect(
      screen.send(.open).contains("OptionalView"), "a child that returns is a first appearance")
  }

  @Test func `the view of a child that is replaced is evaluated`() {
    let screen = DrawnScreen()
    _ = screen.send(.ignored(.shown(5)))
    #expect(screen.send(.replaceIgnored) == ["IgnoredView"])
    #expect(screen.graph.screen().lines.contains("ignored 0"))
  }

  @Test func `the time of an evaluation is measured with and without child views`() {
    let screen = DrawnScreen()
    _ = screen.send(.title("a"))
    let parent = screen.records.last { $0.name == "ScreenView" }
    #expect(parent?.exclusive == 10)
    #expect(parent?.inclusive == 20)
    #expect(screen.graph.statistics["ScreenView"]?.evaluations == 2)
  }

  @Test func `a frame without changes evaluates no view and is not counted`() {
    let screen = DrawnScreen()
    #expect(screen.draw() == [])
    #expect(screen.graph.frames == 1)
  }
}

extension ViewNode {
  /// All texts of a view, from top to bottom.
  var lines: [String] {
    switch self {
    case .empty, .gauge, .sparkline, .child: []
    case .text(let text, _), .marked(let text, _, _), .badge(let text, _): [text]
    case .person(let person): [person.name]
    case .row(let nodes), .column(let nodes): nodes.flatMap(\.lines)
    case .table(_, let rows): rows.flatMap { $0.flatMap(\.lines) }
    case .list(let rows, _): rows.flatMap(\.node.lines)
    case .panel(_, let node), .acting(_, let node): node.lines
    }
  }
}
