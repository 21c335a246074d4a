import Composable
import ComposableTesting

/// An action that applies a closure to the state.
struct Mutation<State>: Sendable {
  let body: @Sendable (inout State) -> Void

  init(_ body: @escaping @Sendable (inout State) -> Void) { self.body = body }
}

extension Store {
  /// Returns a store whose actions are mutations.
  static func mutable(_ state: State) -> Store where Action == Mutation<State> {
    Store(initialState: state, lane: DirectLane()) {
      Reduce { state, change in
        change.body(&state)
        return .none
      }
    }
  }
}
