import Testing

/// Each misuse is reported, with a fix-it if one exists.
struct MisuseTests {
  @Test(arguments: [
    Misuse(
      "@ObservableState\nclass Model {\n}",
      "@ObservableState can only be applied to a struct or an enum; fix: use a struct",
      "@ObservableState\nstruct Model {\n}"),
    Misuse(
      "@Reducer\nclass Feature {\n}",
      "@Reducer can only be applied to a struct or to an enum of features; "
        + "fix: use a struct",
      "@Reducer\nstruct Feature {\n}"),
    Misuse(
      "@Reducer\nenum Destination {\n  case add(AddSong)\n  case nothing\n}",
      "the case 'nothing' must have exactly one unlabeled payload, whose type is a reducer"),
    Misuse(
      "@Reducer\nstruct Feature {\n  struct State {\n  }\n}",
      "'State' needs @ObservableState so that a store or a parent can hold it"),
    Misuse("@CasePathable\nstruct Values {\n}", "@CasePathable can only be applied to an enum"),
    Misuse(
      field: "var a = makeIt()",
      "'a' needs a type annotation to be observed; fix: add a type annotation",
      "var a: <#Type#> = makeIt()"),
    Misuse(
      field: "var a = 0 { didSet { print(a) } }",
      "'a' cannot have didSet: use onChange(of:) in the reducer; fix: remove the observer",
      "var a = 0"),
    Misuse(
      field: "lazy var a: Int = 0",
      "'a' cannot be lazy: compute the value in a reducer and store it; fix: remove 'lazy'",
      "var a: Int = 0"),
    Misuse(
      field: "var a = 0, b: Int",
      "declare each observed field in a separate declaration; fix: split the declaration",
      "var a = 0\n  var b: Int"),
    Misuse(
      field: "@Wrapped var a = 0",
      "'a' cannot have the property wrapper @Wrapped: the state must detect its own mutations; "
        + "fix: remove '@Wrapped'", "var a = 0"),
    Misuse(
      field: "enum CodingKeys { case a }",
      "@ObservableState generates CodingKeys: to use other keys, implement coding in an extension"),
    Misuse(
      field: "@Presents var sheet: Sheet.State?",
      "'sheet' needs no @Presents: present the optional field by "
        + "'.presents(\\.sheet, action: \\.sheet) { … }'; fix: remove '@Presents'",
      "var sheet: Sheet.State?"),
    Misuse(
      field: "@Shared(.inMemory(\"mode\")) var mode = 0",
      "'mode' needs no @Shared: share the plain field by "
        + "'.sharing(\\.mode, with: …, action: \\.mode)'; fix: remove '@Shared'", "var mode = 0"),
    Misuse(
      "@Reducer\nstruct Feature {\n  @Dependency(\\.uuid) var uuid\n}",
      "pass dependencies explicitly: declare 'let dependencies: Dependencies' and use "
        + "'dependencies.identifiers.next()', which returns a UInt64; for a UUID, declare a "
        + "DependencyValue"),
    Misuse(
      body: "BindingReducer()",
      "'BindingReducer' needs the case of the binding actions: "
        + "'BindingReducer(action: \\.bound)'; fix: name the case",
      "BindingReducer(action: \\.bound)"),
    Misuse(
      body: "EmptyReducer().ifLet(\\.$sheet, action: \\.sheet) { Sheet() }",
      "'ifLet' is for children that are not presented: use "
        + "'.presents(\\.sheet, action: \\.sheet) { … }'; fix: use 'presents'",
      "EmptyReducer().presents(\\.sheet, action: \\.sheet) { Sheet() }"),
    Misuse(
      body: "EmptyReducer().forEach(\\.path, action: \\.path) { Page() }",
      "'forEach' does not support push and pop actions: use "
        + "'.stack(\\.path, action: \\.path) { … }'; fix: use 'stack'",
      "EmptyReducer().stack(\\.path, action: \\.path) { Page() }"),
    Misuse(
      body: "EmptyReducer().stack(\\.path, action: \\.path)",
      "'stack' needs the child's reducer: '{ Child() }', '{ Destination.Features(…) }' for an "
        + "enum of features, or '{ Alert() }' for an alert"),
    Misuse(
      field: "struct Fields {}",
      "@ObservableState generates a type named 'Fields': rename this declaration"),
    Misuse(
      field: "@ObservationStateIgnored let a = 0",
      "@ObservationStateIgnored can only be applied to a stored variable; "
        + "fix: remove '@ObservationStateIgnored'", "let a = 0"),
    Misuse(
      field: "@ObservationStateIgnored var a: Int { 1 }",
      "@ObservationStateIgnored can only be applied to a stored variable; "
        + "fix: remove '@ObservationStateIgnored'", "var a: Int { 1 }"),
    Misuse(
      "@ObservableState\nstruct Model {\n"
        + (0..<127).map { "  var f\($0) = 0\n" }.joined() + "}",
      "a state can have at most 126 observed fields, not 127: move some to a child state"),
  ])
  func `a misuse of a macro is reported with its fix-it`(_ misuse: Misuse) {
    let expansion = Expansion(misuse.source)
    #expect(expansion.messages == [misuse.message])
    #expect(expansion.fixed == Expansion.lines(misuse.fixed))
  }

  @Test func `a reported misuse of a macro causes no further errors`() {
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

  @Test func `several misuses of macros are reported together`() {
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

/// A source text, the expected message, and the source text after its fix-its.
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

  /// Makes a misuse in the body of a reducer.
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
