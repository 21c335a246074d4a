package import Composable
package import LiveEvents

/// The people who wait to be let in.
@Reducer
package struct WaitingRoomFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    /// Those who wait, in the order in which they came.
    package var people = WaitingList()
    /// How many were let in.
    package var admitted = 0
    /// Leaves and admissions of people who were not waiting. Sources repeat themselves and miss
    /// joins; this is no error, but worth a number.
    package var unmatched = 0

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    /// What happened since the last frame, in order.
    case changed([Change])
  }

  /// One thing that happened at the door.
  package enum Change: Equatable, Sendable {
    case joined(Person)
    case left(Person)
    case admitted(Person)
  }

  package init() {}

  /// - Complexity: O(1) on average per change.
  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .changed(let changes):
      for change in changes { apply(change, to: &state) }
    }
    return .none
  }

  private func apply(_ change: Change, to state: inout State) {
    switch change {
    case .joined(let person):
      state.people.join(person)
    case .left(let person):
      if !leave(person, &state) { state.unmatched += 1 }
    case .admitted(let person):
      if leave(person, &state) { state.admitted += 1 } else { state.unmatched += 1 }
    }
  }

  private func leave(_ person: Person, _ state: inout State) -> Bool {
    // Looked up first, so that a leave that changes nothing is told to nobody.
    guard state.people.contains(person.id) else { return false }
    state.people.remove(person.id)
    return true
  }
}
