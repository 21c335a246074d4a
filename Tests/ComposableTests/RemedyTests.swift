import Testing

/// Tests that the compiler names the remedy for code written for The Composable Architecture, and
/// for common mistakes.
@Suite(.enabled(if: Compiler.isThere, "needs swiftc, the modules beside the tests and the macros"))
struct RemedyTests {
  @Test func `a name from TCA produces an error that names its replacement`() throws {
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
      "'sheet' needs no @Presents: present the optional field by '.presents(\\.sheet, action: \\.sheet)",
      "'mode' needs no @Shared: share the plain field by '.sharing(\\.mode, with: …, action: \\.mode)'",
      "'TextState' has been renamed to 'String'",
      "declare 'let dependencies: Dependencies' and use 'dependencies.clock'",
      "declare 'let dependencies: Dependencies' and use 'dependencies[Client.self]'",
      "no @Dependency is needed to dismiss: return '.dismiss' from the reducer",
      "'BindableAction' is unavailable: no protocol is needed",
      "'BindingReducer' needs the case of the binding actions: 'BindingReducer(action: \\.binding)'",
      "use '.stack(\\.path, action: \\.path) { … }'", "'forEach' needs the child's reducer",
      "use '.presents(\\.sheet, action: \\.sheet) { … }'",
      "pass a clock: '.debounce(id: …, for: .milliseconds(300), clock: dependencies.clock)'",
    ] { #expect(errors.contains(remedy), "missing: \(remedy)\n\(errors)") }
  }

  @Test func `a call from TCA produces an error that names its replacement`() throws {
    let errors = try #require(Compiler()).errors(
      """
      import Composable

      @DependencyClient struct Client: DependencyValue { static var live: Client { Client() } }

      @Reducer struct Row {
        @ObservableState struct State: Equatable {
          var id = 0
          var name = ""
        }
        enum Action: ViewAction {
          case view(View)
          case saved
          enum View { case saveTapped }
        }
        @Dependency(\\.mainQueue) var queue: Int
        @Dependency(\\.uuid) var uuid: Int
        @Dependency(\\.date.now) var now: Int
        var body: some ReducerOf<Self> {
          Reduce { state, action in
            switch action {
            case .view(.saveTapped):
              return .run { send in
                await withTaskCancellation(id: 1, cancelInFlight: true) {
                  send(.saved, animation: .default)
                }
              }
            case .saved:
              return .send(.view(.saveTapped), animation: .easeIn)
            }
          }
          .onChange(of: \\.name) { old, new in
            Reduce { state, action in
              state.id += 1
              return .none
            }
          }
        }
      }

      @Reducer(state: .equatable, .sendable, action: .equatable) enum Path { case row(Row) }

      func change(_ path: inout StackState<Path.State>) {
        path[id: 0, case: \\.row]?.id = 3
        let log = LockIsolated<[Int]>([])
        log.withValue { $0.append(1) }
        _ = Shared(value: 1)
        _ = ConfirmationDialogState<Int>(titleVisibility: .visible) { "Sure?" } actions: {
          ButtonState(action: 1) { "Yes" }
        }
      }
      """)
    for remedy in [
      "'DependencyClient()' is unavailable: declare a struct of closures that conforms to DependencyValue",
      "'ViewAction' is unavailable: no protocol is needed", "use 'dependencies.clock'",
      "use 'dependencies.identifiers.next()', which returns a UInt64; for a UUID, declare",
      "use 'dependencies[Today.self].now()', where Today is a DependencyValue that you declare",
      "cancel the whole effect: '.run { … }.cancellable(id: …, cancelInFlight: true)'",
      "'callAsFunction(_:animation:)' is unavailable: write 'send(action)'",
      "'send(_:animation:)' is unavailable: write 'send(action)'",
      "react in '.onChange(of: \\.count) { state, action in … }'",
      "'Reducer(state:action:)' is unavailable: remove the arguments",
      "'path[id: id]?.modify(\\.detail) { … }' to change it",
      "'LockIsolated' is unavailable: use 'Mutex' of the module Synchronization",
      "'init(value:)' has been renamed to 'init(_:)'",
      "leave out 'titleVisibility': the view of the dialog decides whether to show the title",
    ] { #expect(errors.contains(remedy), "missing: \(remedy)\n\(errors)") }
    #expect(Self.count(errors, "error:") == 16, "an error follows from another one:\n\(errors)")
  }

  @Test func `the dependencies of a TCA test produce errors that name their replacements`() throws {
    let errors = try #require(Compiler()).errors(
      """
      import Composable
      import ComposableTesting

      @Reducer struct Row {
        @ObservableState struct State: Equatable { var id = 0 }
        enum Action { case tapped }
        var body: some ReducerOf<Self> { EmptyReducer() }
      }

      func makeStore() -> TestStoreOf<Row> {
        TestStore(initialState: Row.State()) { Row() } withDependencies: {
          $0.continuousClock = TestClock()
          $0.uuid = .incrementing
          $0.date.now = 1
          $0.date = .constant(1)
          $0.mainQueue = .immediate
        }
      }
      """)
    for remedy in [
      "pass the dependencies to the feature: 'Feature(dependencies: .test(clock: clock).overriding(client))'",
      "pass 'Dependencies.test(identifiers: .counting())' to the feature",
      "pass 'dependencies.overriding(client)' to the feature",
      "pass 'Dependencies.test(clock: ImmediateClock())' to the feature",
    ] { #expect(errors.contains(remedy), "missing: \(remedy)\n\(errors)") }
    #expect(Self.count(errors, "error:") == 4, "an error follows from another one:\n\(errors)")
  }

  /// Counts the lines that begin with a position and contain a text.
  private static func count(_ text: String, _ kind: String) -> Int {
    text.split(separator: "\n").count { $0.first == "/" && $0.contains(kind) }
  }

  @Test func `a computed property in the body of a view produces an error with a remedy`() throws {
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
