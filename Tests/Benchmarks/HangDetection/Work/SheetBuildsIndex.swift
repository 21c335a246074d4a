import Composable
import HangSimulation
import ViewGraph

/// The initialiser of a sheet's state builds an index of all words, within the action that opens
/// the sheet.
enum SheetBuildsIndex {
  @Reducer struct Screen {
    @ObservableState struct State: Equatable, Sendable {
      var title: String = "Library"
      @ObservationStateIgnored var sheet: Sheet.State? = nil
    }
    enum Action: Sendable {
      case opened
      case closed
      case sheet(Sheet.Action)
    }
    let version: PlantedFault.Version

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        switch action {
        case .opened: state.sheet = Sheet.State(version)
        case .closed: state.sheet = nil
        case .sheet: break
        }
        return .none
      }.ifLet(\.sheet, action: \.sheet) { Sheet() }
    }
  }

  @Reducer struct Sheet {
    @ObservableState struct State: Equatable, Sendable {
      var words: Int = 0

      init(_ version: PlantedFault.Version) {
        words = version == .faulty ? Self.index().count : Self.knownWords
      }

      private static func index() -> [String: [Int]] {
        var index: [String: [Int]] = [:]
        for article in Article.page(0, of: 6_000) {
          for word in article.name.split(separator: " ") {
            index[String(word), default: []].append(article.id)
          }
        }
        return index
      }
      /// The words were counted when the library was loaded.
      private static let knownWords = index().count
    }
    enum Action: Sendable { case tapped }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  struct ScreenView: View {
    static let name = "ScreenView"
    func body(_ state: Observed<Screen.State>, _ context: ViewContext) -> ViewNode {
      .column([.badge(state.title, .strong), context.child(SheetView(), state, \.sheet)])
    }
  }

  struct SheetView: View {
    static let name = "SheetView"
    func body(_ state: Observed<Sheet.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.words) words")
    }
  }

  enum Event: Sendable { case opened, closed }

  static let fault = PlantedFault(
    "sheet-builds-index", .initialiser, "opened",
    screen: { version in
      SimulatedScreen<Event>(
        ScreenView(), state: { Screen.State() }, reducer: { _ in Screen(version: version) },
        on: { (event: Event) -> [Screen.Action] in [event == .opened ? .opened : .closed] })
    },
    events: [
      .every(.seconds(3), from: .seconds(1)) { _ in .opened },
      .every(.seconds(3), from: .milliseconds(2_500)) { _ in .closed },
    ])
}
