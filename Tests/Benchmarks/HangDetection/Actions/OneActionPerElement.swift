import Composable
import HangSimulation
import ViewGraph

/// The server delivers a hundred messages together, and each message becomes a separate action.
enum OneActionPerElement {
  @Reducer struct Chat {
    @ObservableState struct State: Equatable, Sendable { var lines: [String] = [] }
    enum Action: Sendable { case received([String]) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .received(let lines) = action { state.lines = (state.lines + lines).suffix(40) }
      return .none
    }
  }

  struct ChatView: View {
    static let name = "ChatView"
    func body(_ state: Observed<Chat.State>, _ context: ViewContext) -> ViewNode {
      .list(state.lines.map { ViewNode.ListRow(id: $0, .text($0)) })
    }
  }

  static let fault = PlantedFault(
    "one-action-per-element", .chattyActions, "received",
    screen: { version in
      SimulatedScreen<[String]>(
        ChatView(), state: { Chat.State() },
        elements: { (action: Chat.Action) -> Int in
          if case .received(let lines) = action { lines.count } else { 0 }
        }, reducer: { _ in Chat() },
        on: { (lines: [String]) -> [Chat.Action] in
          version == .faulty ? lines.map { .received([$0]) } : [.received(lines)]
        })
    },
    events: [
      .every(.milliseconds(250)) { random in
        (0..<100).map { _ in "message \(random.integer(in: 0...1_000_000_000))" }
      }
    ])
}
