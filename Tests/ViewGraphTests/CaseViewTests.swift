import Composable
import ComposableTesting
import Testing
import ViewGraph

/// Views of presented children, of stacks of screens, and of enum states.
@ObservableState
private struct SongState: Equatable, Sendable {
  var title = ""
  var plays = 0
}

@ObservableState
private enum Screen: Equatable, Sendable {
  case song(SongState)
  case album(SongState)
  case credits
}

@ObservableState
private struct PlayerState: Equatable, Sendable {
  @ObservationStateIgnored var destination: Screen?
  var tracked: Screen?
  @ObservationStateIgnored var path: StackState<Screen> = []
  @ObservationStateIgnored var current: Screen = Screen.credits
  var isLong: Bool { path.count > 3 }
}

private struct Change: Sendable {
  let body: @Sendable (inout PlayerState) -> Void
}

private struct PlayerView: View {
  static let name = "PlayerView"

  func body(_ state: Observed<PlayerState>, _ context: ViewContext) -> ViewNode {
    .column([
      context.child(SongView(), state, \.destination, case: \.song),
      context.child(AlbumView(), state, \.destination, case: \.album),
      context.child(SongView(), state, \.tracked, case: \.song),
      .column(
        context.each(
          state, \.path, CaseView(SongView(), case: \.song), CaseView(AlbumView(), case: \.album))),
      context.child(CurrentView(), state, \.current),
    ])
  }
}

private struct SongView: View {
  static let name = "SongView"
  func body(_ state: Observed<SongState>, _ context: ViewContext) -> ViewNode {
    .text("song \(state.title)")
  }
}

private struct AlbumView: View {
  static let name = "AlbumView"
  func body(_ state: Observed<SongState>, _ context: ViewContext) -> ViewNode {
    .text("album \(state.title)")
  }
}

/// A view of an enum state: reads one case and shows the view of another.
private struct CurrentView: View {
  static let name = "CurrentView"
  func body(_ state: Observed<Screen>, _ context: ViewContext) -> ViewNode {
    .column([
      .text(state.is(\.credits) ? "credits" : "current \(state.song?.title ?? "-")"),
      context.child(AlbumView(), state, case: \.album),
    ])
  }
}

private final class DrawnPlayer {
  let store: Store<PlayerState, Change>
  let graph: ViewGraph
  private var records: [EvaluationRecord] = []

  init() {
    let store = Store(
      initialState: PlayerState(), lane: ManualLane(), notification: .batched
    ) {
      Reduce { (state: inout PlayerState, change: Change) in
        change.body(&state)
        return .none
      }
    }
    self.store = store
    graph = ViewGraph(
      PlayerView(), place: store.place, clock: { 0 }, read: { [unowned store] in store.state })
    graph.onEvaluation = { [unowned self] in records.append($0) }
    draw()
  }

  @discardableResult
  func draw() -> [EvaluationRecord] {
    records = []
    store.deliverChanges()
    graph.evaluateFrame()
    return records
  }

  /// Returns the names of the views that are evaluated after the change, sorted.
  func after(_ change: @escaping @Sendable (inout PlayerState) -> Void) -> [String] {
    store.send(Change(body: change))
    return draw().map(\.name).sorted()
  }

  var lines: [String] { graph.screen().lines.filter { $0 != "credits" } }
}

struct CaseViewTests {
  private let player = DrawnPlayer()

  @Test func `the view of a case shows the child that is presented in this case`() {
    let named = SongState(title: "Naima")
    #expect(player.after { $0.destination = .song(named) } == ["PlayerView", "SongView"])
    #expect(player.lines == ["song Naima"])
    #expect(
      player.after { $0.destination?.modify(\.song) { $0.title = "Alabama" } } == ["SongView"])
    #expect(player.after { $0.destination?.modify(\.song) { $0.plays += 1 } } == [], "not read")
    #expect(player.after { $0.destination = .album(named) } == ["AlbumView", "PlayerView"])
    #expect(player.after { $0.destination = nil } == ["PlayerView"])
    #expect(player.lines == [])
    #expect(player.after { $0.destination = .album(named) } == ["AlbumView", "PlayerView"])
    #expect(player.lines == ["album Naima"])
    #expect(player.after { $0.destination = .credits } == ["PlayerView"])
    #expect(player.lines == [])
  }

  @Test func `the state of a presented child in a tracked field is passed to its view`() {
    #expect(player.after { $0.tracked = .song(SongState()) } == ["PlayerView", "SongView"])
    #expect(
      player.after { $0.tracked?.modify(\.song) { $0.plays += 1 } } == ["PlayerView", "SongView"])
    #expect(player.after { $0.tracked = nil } == ["PlayerView"])
    #expect(player.lines == [])
  }

  @Test func `the screens of a stack are shown in order, each by the view of its case`() {
    _ = player.after {
      $0.path = [.song(SongState(title: "a")), .credits, .album(SongState(title: "b"))]
    }
    #expect(player.lines == ["song a", "album b"])
    #expect(player.after { $0.path[id: 2]?.modify(\.album) { $0.title = "c" } } == ["AlbumView"])
    #expect(player.after { $0.path[id: 2]?.modify(\.album) { $0.plays += 1 } } == [], "not read")
    #expect(
      player.after { $0.path.push(.song(SongState(title: "d"))) } == ["PlayerView", "SongView"])
    #expect(player.lines == ["song a", "album c", "song d"])
    #expect(player.after { $0.path.pop(from: 2) } == ["PlayerView"])
    #expect(player.lines == ["song a"])
  }

  @Test func `a screen whose state changes to another case gets another view`() {
    _ = player.after { $0.path = [.song(SongState(title: "a"))] }
    #expect(
      player.after { $0.path[id: 0] = .album(SongState(title: "b")) } == [
        "AlbumView", "PlayerView",
      ])
    #expect(player.lines == ["album b"])
    #expect(player.after { $0.path[id: 0]?.modify(\.album) { $0.title = "c" } } == ["AlbumView"])
    #expect(player.after { $0.path[id: 0] = .credits } == ["PlayerView"])
    #expect(player.lines == [])
  }

  @Test func `a view reads an enum state through its cases`() {
    #expect(player.graph.screen().lines.last == "credits")
    #expect(player.after { $0.current = .song(SongState(title: "a")) } == ["CurrentView"])
    #expect(player.lines == ["current a"])
    #expect(player.after { $0.current.modify(\.song) { $0.title = "b" } } == ["CurrentView"])
    #expect(
      player.after { $0.current = .album(SongState(title: "c")) } == ["AlbumView", "CurrentView"])
    #expect(player.lines == ["current -", "album c"])
    #expect(player.after { $0.current.modify(\.album) { $0.title = "d" } } == ["AlbumView"])
    #expect(player.graph.log.records(of: "CurrentView").last?.fields.contains("(case)") == true)
  }
}
