import Testing

/// Measures the cost of type-checking a chain of children in steps of the type checker, which are
/// the same on every machine.
struct TypeCheckTests {
  @Test(.enabled(if: Compiler.isThere, "needs swiftc, the modules beside the tests and the macros"))
  func `type-checking twice as many child reducers takes less than three times the steps`() throws {
    let compiler = try #require(Compiler())
    let (ten, twenty) = (try compiler.steps(Self.source(10)), try compiler.steps(Self.source(20)))
    #expect(ten > 0)
    #expect(twenty < 3 * ten, "\(ten) steps for 10 children, \(twenty) for 20")
  }

  private static func source(_ count: Int) -> String {
    func rows(_ row: (Int) -> String) -> String {
      (0..<count).map { "    " + row($0) }.joined(separator: "\n")
    }
    let fields = rows { index in
      switch index % 5 {
      case 0, 1: "var c\(index): Leaf.State?"
      case 2: "var c\(index) = KeyedCollection<Int, Leaf.State>()"
      case 3: "var c\(index) = StackState<Leaf.State>()"
      default: "var c\(index): Phase = Phase.idle"
      }
    }
    let cases = rows { index in
      switch index % 5 {
      case 1: "case c\(index)(PresentationAction<Leaf.Action>)"
      case 2: "case c\(index)(ElementAction<Int, Leaf.Action>)"
      case 3: "case c\(index)(StackActionOf<Leaf>)"
      default: "case c\(index)(Leaf.Action)"
      }
    }
    let chain = rows { index in
      let child = "\\.c\(index), action: \\.c\(index)) { Leaf() }"
      return
        switch index % 5
      {
      case 0: ".ifLet(\(child)"
      case 1: ".presents(\(child)"
      case 2: ".forEach(\(child)"
      case 3: ".stack(\(child)"
      default: ".ifCaseLet(\\.c\(index), case: \\.live, action: \\.c\(index)) { Leaf() }"
      }
    }
    return """
      import Composable
      @Reducer struct Leaf {
        @ObservableState struct State: Equatable, Sendable { var count = 0 }
        enum Action: Sendable { case counted }
        func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
      }
      @ObservableState enum Phase: Equatable, Sendable { case idle; case live(Leaf.State) }
      @Reducer struct Host {
        @ObservableState struct State: Equatable, Sendable {
      \(fields)
        }
        enum Action: Sendable {
          case began
      \(cases)
        }
        var body: some ReducerOf<Self> {
          Reduce { _, _ in .none }
      \(chain)
        }
      }
      """
  }
}
