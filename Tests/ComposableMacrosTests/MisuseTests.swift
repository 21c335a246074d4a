import Testing

/// Each misuse is told, with a way to mend it where there is one.
struct MisuseTests {
  @Test(arguments: [
    Misuse(
      "@ObservableState\nclass Model {\n}",
      "@ObservableState applies to a struct or an enum; fix: make it a struct",
      "@ObservableState\nstruct Model {\n}"),
    Misuse(
      "@Reducer\nclass Feature {\n}",
      "@Reducer applies to a struct, or to an enum of features; fix: make it a struct",
      "@Reducer\nstruct Feature {\n}"),
    Misuse(
      "@Reducer\nenum Destination {\n  case add(AddSong)\n  case nothing\n}",
      "'nothing' must carry one feature, a type that is a reducer, without a label"),
    Misuse(
      "@Reducer\nstruct Feature {\n  struct State {\n  }\n}",
      "'State' needs @ObservableState: a store or a parent cannot hold it"),
    Misuse("@CasePathable\nstruct Values {\n}", "@CasePathable applies to an enum"),
    Misuse(
      field: "var a = makeIt()",
      "'a' needs a type annotation to be observed; fix: add a type annotation",
      "var a: <#Type#> = makeIt()"),
    Misuse(
      field: "var a = 0 { didSet { print(a) } }",
      "'a' cannot have didSet: react to its change in the reducer, with onChange(of:); "
        + "fix: remove it", "var a = 0"),
    Misuse(
      field: "lazy var a: Int = 0",
      "'a' cannot be lazy: a state holds values, compute it in a reducer; fix: remove 'lazy'",
      "var a: Int = 0"),
    Misuse(
      field: "var a = 0, b: Int",
      "declare each observed field on its own; fix: declare them one by one",
      "var a = 0\n  var b: Int"),
    Misuse(
      field: "@Wrapped var a = 0",
      "'a' cannot have the property wrapper @Wrapped: the state must see its own mutations; "
        + "fix: remove '@Wrapped'", "var a = 0"),
    Misuse(
      field: "enum CodingKeys { case a }",
      "@ObservableState makes CodingKeys itself; implement coding by hand in an extension to use "
        + "others"),
    Misuse(
      field: "@Presents var sheet: Sheet.State?",
      "'sheet' needs no @Presents: an optional field is presented by "
        + "'.presents(\\.sheet, action: \\.sheet) { … }'; fix: remove '@Presents'",
      "var sheet: Sheet.State?"),
    Misuse(
      field: "@Shared(.inMemory(\"mode\")) var mode = 0",
      "'mode' needs no @Shared: a plain field is shared by "
        + "'.sharing(\\.mode, with: …, action: \\.mode)'; fix: remove '@Shared'", "var mode = 0"),
    Misuse(
      "@Reducer\nstruct Feature {\n  @Dependency(\\.uuid) var uuid\n}",
      "dependencies are handed down: declare 'let dependencies: Dependencies' and use "
        + "'dependencies.identifiers.next()', a UInt64; a UUID comes from a DependencyValue of your "
        + "own"),
    Misuse(
      body: "BindingReducer()",
      "'BindingReducer' needs the case of the bindings: 'BindingReducer(action: \\.bound)'; "
        + "fix: name the case", "BindingReducer(action: \\.bound)"),
    Misuse(
      body: "EmptyReducer().ifLet(\\.$sheet, action: \\.sheet) { Sheet() }",
      "'ifLet' adds a child that is not presented: use "
        + "'.presents(\\.sheet, action: \\.sheet) { … }'; fix: use 'presents'",
      "EmptyReducer().presents(\\.sheet, action: \\.sheet) { Sheet() }"),
    Misuse(
      body: "EmptyReducer().forEach(\\.path, action: \\.path) { Page() }",
      "'forEach' adds children that actions neither push nor pop: use "
        + "'.stack(\\.path, action: \\.path) { … }'; fix: use 'stack'",
      "EmptyReducer().stack(\\.path, action: \\.path) { Page() }"),
    Misuse(
      body: "EmptyReducer().stack(\\.path, action: \\.path)",
      "'stack' needs the child's reducer: '{ Child() }', for an enum of features "
        + "'{ Destination.Features(…) }', for an alert '{ Alert() }'"),
    Misuse(field: "struct Fields {}", "'Fields' is a name that @ObservableState needs"),
    Misuse(
      field: "@ObservationStateIgnored let a = 0",
      "@ObservationStateIgnored applies to a stored variable; nothing else is observed; "
        + "fix: remove '@ObservationStateIgnored'", "let a = 0"),
    Misuse(
      field: "@ObservationStateIgnored var a: Int { 1 }",
      "@ObservationStateIgnored applies to a stored variable; nothing else is observed; "
        + "fix: remove '@ObservationStateIgnored'", "var a: Int { 1 }"),
    Misuse(
      "@ObservableState\nstruct Model {\n"
        + (0..<127).map { "  var f\($0) = 0\n" }.joined() + "}",
      "a state has at most 126 observed fields, this one has 127: group some in a child state"),
  ])
  func `is reported`(_ misuse: Misuse) {
    let expansion = Expansion(misuse.source)
    #expect(expansion.messages == [misuse.message])
    #expect(expansion.fixed == Expansion.lines(misuse.fixed))
  }

  @Test func `no error follows from a misuse that was told`() {
    let expansion = Expansion(
      """
      @ObservableState
      struct Model {
        lazy var a: Int = 0
        var b = 0
      }
      """)
    #expect(expansion.messages.count == 1)
    #expect(!expansion.text.contains("extension Model"), "\(expansion.text)")
    #expect(!expansion.text.contains("_$changes"), "\(expansion.text)")
  }

  @Test func `several misuses are reported together`() {
    let expansion = Expansion(
      """
      @ObservableState
      struct Model {
        lazy var a: Int = 0
        var b = makeIt()
      }
      """)
    #expect(expansion.messages.count == 2)
  }
}

/// A source, what is said of it, and what its fix-its make of it.
struct Misuse: Sendable, CustomTestStringConvertible {
  let source: String
  let message: String
  let fixed: String

  init(_ source: String, _ message: String, _ fixed: String? = nil) {
    self.source = source
    self.message = message
    self.fixed = fixed ?? source
  }

  init(field: String, _ message: String, _ fixed: String? = nil) {
    func model(_ field: String) -> String { "@ObservableState\nstruct Model {\n  \(field)\n}" }
    self.init(model(field), message, fixed.map(model))
  }

  /// Of a reducer with this body.
  init(body: String, _ message: String, _ fixed: String? = nil) {
    func feature(_ body: String) -> String {
      """
      @Reducer
      struct Feature {
        enum Action {
          case bound(BindingAction<State>)
          case path(StackActionOf<Page>)
          case sheet(PresentationAction<Sheet.Action>)
        }
        var body: some ReducerOf<Self> {
          \(body)
        }
      }
      """
    }
    self.init(feature(body), message, fixed.map(feature))
  }

  var testDescription: String { message }
}
