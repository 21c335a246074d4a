import Composable
import HangSimulation
import ViewGraph

/// After each edit, a reducer compares the whole document with the saved document to decide whether
/// there are changes to save.
enum DeepEquality {
  @Reducer struct Editor {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var articles: [Article] = []
      @ObservationStateIgnored var saved: [Article] = []
      @ObservationStateIgnored var edited: Set<Int> = []
      var canSave: Bool = false
      var last: Int = 0
    }
    enum Action: Sendable {
      case loaded([Article])
      case edited(Int)
    }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .loaded(let page):
        state.articles += page
        state.saved += page
      case .edited(let number):
        guard !state.articles.isEmpty else { return .none }
        state.last = number
        // The edit repeats the saved value, so the comparison visits all articles without finding a
        // difference.
        let index = number % state.articles.count
        state.articles[index].price = state.saved[index].price
        switch version {
        case .faulty: state.canSave = state.articles != state.saved
        case .sound:
          if state.articles[index] == state.saved[index] {
            state.edited.remove(index)
          } else {
            state.edited.insert(index)
          }
          state.canSave = !state.edited.isEmpty
        }
      }
      return .none
    }
  }

  struct EditorView: View {
    static let name = "EditorView"
    func body(_ state: Observed<Editor.State>, _ context: ViewContext) -> ViewNode {
      .column([.text("\(state.last)"), .badge(state.canSave ? "save" : "saved", .normal)])
    }
  }

  enum Event: Sendable {
    case page(Int)
    case edited(Int)
  }

  static let fault = PlantedFault(
    "deep-equality", .growth, "edited", field: "articles",
    screen: { version in
      SimulatedScreen<Event>(
        EditorView(), state: { Editor.State() }, reducer: { _ in Editor(version: version) },
        on: { (event: Event) -> [Editor.Action] in
          switch event {
          case .page(let number): [.loaded(Article.page(number, of: 6_000))]
          case .edited(let number): [.edited(number)]
          }
        })
    },
    events: [
      .recorded((0..<30).map { (.milliseconds(400 * $0), .page($0)) }),
      .poisson(every: .milliseconds(10)) { .edited($0.integer(in: 0...1_000_000)) },
    ])
}
