import Composable
@ObservableState struct Leaf: Equatable, Codable { var count = 0; var name = "" }
@ObservableState enum Phase { case idle, live(Leaf), failed(String), both(a: Int, Leaf) }
@ObservableState struct Host { var title = ""; var a = Leaf(); @ObservationStateIgnored var b: Leaf?; var phase: Phase = .idle }
@Reducer struct LeafFeature { typealias State = Leaf
  enum Action { case inc, rename(String) }
  func reduce(into state: inout Leaf, action: Action) -> Effect<Action> {
    switch action { case .inc: state.count += 1; case .rename(let n): state.name = n }
    return .none } }
@Reducer struct HostFeature { typealias State = Host
  enum Action { case a(LeafFeature.Action), b(LeafFeature.Action), addB, dropB, title(String) }
  var body: ReducerSteps<Host, Action> {
    Scope(state: \.a, action: \.a) { LeafFeature() }
    Reduce { state, action in
      switch action { case .addB: state.b = Leaf(); case .dropB: state.b = nil; case .title(let t): state.title = t; case .a, .b: break }
      return .none
    }.ifLet(\.b, action: \.b) { LeafFeature() }
  }
}
struct L: Lane { func execute(_ job: @escaping @Sendable () -> Void) { job() }; var taskExecutor: (any TaskExecutor)? { nil } }

func run(_ rounds: Int, _ loops: Int) {
  let store = Store(initialState: Host(), lane: L()) { HostFeature() }
  var n = 0
  let o = store.place.child(\.a).observe(\.count) { n += 1 }
  let clock = ContinuousClock()
  for _ in 0..<rounds {
    let t = clock.measure { for _ in 0..<loops { store.send(.a(.inc)) } }
    print("change", t / loops, n)
    let t2 = clock.measure { for _ in 0..<loops { store.send(.a(.rename(""))) } }
    print("nochange", t2 / loops, n)
    var plain = Host()
    let t3 = clock.measure { for _ in 0..<loops { _ = LeafFeature().reduce(into: &plain.a, action: n > 5 ? .inc : .rename("")) } }
    print("direct", t3 / loops, plain.a.count)
  }
  _ = o
}
if CommandLine.arguments.count > 1 { run(1, 100000) } else { run(3, 1_000_000) }
