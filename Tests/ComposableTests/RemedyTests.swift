import Testing

/// Code that was written for The Composable Architecture, or is wrong in a way that is easily met: the compiler says
/// what to write.
@Suite(.enabled(if: Compiler.isThere, "needs swiftc, the modules beside the tests and the macros"))
struct RemedyTests {
  @Test func `a name from elsewhere says what replaces it`() throws {
    let errors = try #require(Compiler()).errors(
      """
      import Composable

      struct Client: DependencyKey { static let liveValue = Client() }
      extension DependencyValues {
        var client: Client { get { self[Client.self] } set { self[Client.self] = newValue } }
      }

      @ObservableState struct State: Equatable {
        var rows: IdentifiedArrayOf<Row.State> = []
        @Presents var sheet: Row.State?
        @Shared(.inMemory("mode")) var mode = 0
        var alert = AlertState<Int> { TextState("Sure?") }
      }

      @Reducer struct Row {
        @ObservableState struct State: Equatable, Identifiable { var id = 0 }
        enum Action { case tapped }
        @Dependency(\\.continuousClock) var clock: Int
        @Dependency(\\.dismiss) var dismiss: Int
        @Dependency(Client.self) var client: Client
        var body: some ReducerOf<Self> { EmptyReducer() }
      }

      @Reducer enum Path { case row(Row) }

      @Reducer struct List {
        @ObservableState struct State: Equatable {
          var path = StackState<Path.State>()
          var sheet: Row.State?
        }
        enum Action: BindableAction {
          case binding(BindingAction<State>)
          case path(StackActionOf<Path>)
          case sheet(PresentationAction<Row.Action>)
          case rows(IdentifiedActionOf<Row>)
        }
        var body: some ReducerOf<Self> {
          BindingReducer()
          Reduce { _, _ in .none }
            .forEach(\\.path, action: \\.path)
            .ifLet(\\.$sheet, action: \\.sheet) { Row() }
        }
      }

      func search(_ effect: Effect<Int>) -> Effect<Int> {
        effect.debounce(id: 1, for: 0.3, scheduler: 0)
      }
      """)
    for remedy in [
      "'DependencyKey' is unavailable: conform to DependencyValue",
      "a dependency is found by its type, as in 'dependencies[SongClient.self]'",
      "'IdentifiedArrayOf' has been renamed to 'KeyedCollectionOf'",
      "'IdentifiedActionOf' has been renamed to 'ElementActionOf'",
      "'sheet' needs no @Presents: an optional field is presented by '.presents(\\.sheet, action: \\.sheet)",
      "'mode' needs no @Shared: a plain field is shared by '.sharing(\\.mode, with: …, action: \\.mode)'",
      "'TextState' has been renamed to 'String'",
      "declare 'let dependencies: Dependencies' and use 'dependencies.clock'",
      "declare 'let dependencies: Dependencies' and use 'dependencies[Client.self]'",
      "no @Dependency is needed to dismiss: return '.dismiss' from the reducer",
      "'BindableAction' is unavailable: no protocol is needed",
      "'BindingReducer' needs the case of the bindings: 'BindingReducer(action: \\.binding)'",
      "use '.stack(\\.path, action: \\.path) { … }'", "'forEach' needs the child's reducer",
      "use '.presents(\\.sheet, action: \\.sheet) { … }'",
      "pass a clock: '.debounce(id: …, for: .milliseconds(300), clock: dependencies.clock)'",
    ] { #expect(errors.contains(remedy), "missing: \(remedy)\n\(errors)") }
  }

  @Test func `a computed property in the body of a view says what to do`() throws {
    let errors = try #require(Compiler()).errors(
      """
      import Composable
      import ViewGraph

      @ObservableState struct Bag: Equatable {
        var songs: [String] = []
        var isFull: Bool { songs.count > 9 }
      }

      struct BagView: View {
        static let name = "BagView"
        func body(_ state: Observed<Bag>, _ context: ViewContext) -> ViewNode {
          .column([.text("\\(state.songs.count)"), .text(state.isFull ? "full" : "")])
        }
      }
      """)
    #expect(errors.contains("a view reads stored fields"), "\(errors)")
  }
}
