package import Composable
package import LiveEvents

/// The people who wait to be let in, and the time until the stream begins.
@Reducer
package struct WaitingRoomFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// Those who wait, in the order in which they came.
    package var people = WaitingList()
    /// How many were let in.
    package var admitted = 0
    /// How many the host lets in at most; `nil` for no limit. What the platform let in beyond it is
    /// shown all the same.
    package var capacity: Int?
    /// When the stream is to begin.
    package var startsAt: Timestamp?
    /// Whole seconds until then, rounded up; `nil` while the time is not known.
    package var secondsLeft: Int?
    /// Leaves and admissions of people who were not waiting. Sources repeat themselves and miss
    /// joins; this is no error, but worth a number.
    package var unmatched = 0

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    /// What happened since the last frame, in order.
    case changed([Change])
    /// The host lets in whoever has waited longest.
    case admitNextTapped
    /// The host lets in all for whom there is room.
    case admitAllTapped
    /// The host lets in somebody who waits, if there is room.
    case admitPersonTapped(Text)
    case capacityChanged(Int?)
    /// The stream is to begin at this time, or nobody knows when; told at a time of the events.
    case scheduled(Timestamp?, at: Timestamp)
    /// The time of the events went on.
    case ticked(at: Timestamp)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// The host let these people in, the first to come first.
    case admitted([Person])
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
    case .admitNextTapped:
      return admit(state.people.prefix(1), from: &state)
    case .admitAllTapped:
      return admit(Array(state.people), from: &state)
    case .admitPersonTapped(let id):
      return admit(state.people[id].map { [$0] } ?? [], from: &state)
    case .capacityChanged(let capacity):
      state.capacity = capacity.map { max(0, $0) }
    case .scheduled(let start, let time):
      if state.startsAt != start { state.startsAt = start }
      countDown(to: time, &state)
    case .ticked(let time):
      countDown(to: time, &state)
    case .delegate:
      break
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

  /// What all admissions share. All who are let in are one message to the parent.
  private func admit(_ wanted: some Sequence<Person>, from state: inout State) -> Effect<Action> {
    let people = Array(wanted.prefix(state.roomLeft))
    guard !people.isEmpty else { return .none }
    for person in people { state.people.remove(person.id) }
    state.admitted += people.count
    return .send(.delegate(.admitted(people)))
  }

  private func countDown(to time: Timestamp, _ state: inout State) {
    let seconds = state.startsAt.flatMap { start -> Int? in
      let (left, overflow) = start.subtractingReportingOverflow(time)
      // A time that cannot be told in milliseconds is none.
      return overflow ? nil : Int(max(0, left / 1_000 + (left % 1_000 > 0 ? 1 : 0)))
    }
    if state.secondsLeft != seconds { state.secondsLeft = seconds }
  }
}

extension WaitingRoomFeature.State {
  /// How many may still be let in.
  package var roomLeft: Int { capacity.map { max(0, $0 - admitted) } ?? .max }

  /// Whether the time until the stream begins is shown and still falls.
  package var isCountingDown: Bool { startsAt != nil && secondsLeft != 0 }
}
