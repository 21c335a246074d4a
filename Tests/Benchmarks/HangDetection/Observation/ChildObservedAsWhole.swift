import Composable
import HangSimulation
import ViewGraph

/// A screen observes all of its child, the chat, so each message evaluates the screen and its menu.
enum ChildObservedAsWhole {
  @Reducer struct Screen {
    @ObservableState struct State: Equatable, Sendable {
      var title: String = "Evening show"
      @ObservationStateIgnored var menu: Menu.State = Menu.State()
      @ObservationStateIgnored var chat: Chat.State = Chat.State()
    }
    enum Action: Sendable { case chat(Chat.Action) }
    var body: some ReducerOf<Self> { Scope(state: \.chat, action: \.chat) { Chat() } }
  }

  @Reducer struct Menu {
    @ObservableState struct State: Equatable, Sendable {
      var articles: [Article] = Article.page(0)
    }
    enum Action: Sendable { case tapped }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  @Reducer struct Chat {
    @ObservableState struct State: Equatable, Sendable { var lines: [String] = [] }
    enum Action: Sendable { case received(String) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .received(let line) = action { state.lines = state.lines.suffix(19) + [line] }
      return .none
    }
  }

  struct ScreenView: View {
    static let name = "ScreenView"
    func body(_ state: Observed<Screen.State>, _ context: ViewContext) -> ViewNode {
      .column([
        .badge(state.title, .strong), context.child(MenuView(), state, \.menu),
        context.child(ChatView(), state, \.chat),
      ])
    }
  }

  struct MenuView: View {
    static let name = "MenuView"
    func body(_ state: Observed<Menu.State>, _ context: ViewContext) -> ViewNode {
      .list(state.articles.map { ViewNode.ListRow(id: "\($0.id)", .text($0.name)) })
    }
  }

  struct ChatView: View {
    static let name = "ChatView"
    func body(_ state: Observed<Chat.State>, _ context: ViewContext) -> ViewNode {
      .list(state.lines.map { ViewNode.ListRow(id: $0, .text($0)) })
    }
  }

  static let fault = PlantedFault(
    "child-observed-as-whole", .overObservation, "ScreenView", field: "chat",
    screen: { version in
      SimulatedScreen<String>(
        ScreenView(), state: { Screen.State() }, ignoring: version == .faulty ? [] : nil,
        reducer: { _ in Screen() }, on: { [.chat(.received($0))] })
    },
    events: [
      .poisson(every: .milliseconds(25)) { "message \($0.integer(in: 0...1_000_000))" }
    ])
}
