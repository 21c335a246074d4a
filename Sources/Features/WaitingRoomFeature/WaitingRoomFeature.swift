package import Composable
package import LiveEvents

/// The people waiting to be let in, and the time until the stream begins.
@Reducer
package struct WaitingRoomFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The people who are waiting, in the order in which they came.
    package var people = WaitingList()
    /// How many people have been let in.
    package var admitted = 0
    /// The most people the host lets in; `nil` for no limit. People let in by the platform beyond
    /// it are shown all the same.
    package var capacity: Int?
    /// How many people per second are let in by themselves; `nil` if none are.
    package var pace: Double?
    /// Not for views.
    @ObservationStateIgnored package var pacing: AdmissionPace?
    /// When the stream will begin.
    package var startsAt: Timestamp?
    /// Whole seconds until then, rounded up; `nil` while the time is unknown.
    package var secondsLeft: Int?
    /// How often somebody left or was let in without having waited. Sources repeat themselves and
    /// miss joins, so this is not an error, but worth counting.
    package var unmatched = 0
    /// How many people were left out because the list was full; `nil` if that never happened.
    package var leftOut: Int?

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    /// What happened since the last frame, in order.
    case changed([Change])
    /// The host lets in the person who has waited longest.
    case admitNextTapped
    /// The host lets in as many people as the capacity allows.
    case admitAllTapped
    /// The host lets in a person who is waiting, if the capacity allows.
    case admitPersonTapped(Text)
    case capacityChanged(Int?)
    /// So many people per second are let in from this time on, or none.
    case paceChanged(Double?, at: Timestamp)
    /// The stream will begin at the first time, or at an unknown time; announced at the second.
    case scheduled(Timestamp?, at: Timestamp)
    /// The time of the events has advanced.
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
    case .paceChanged(let perSecond, let time):
      state.pace = perSecond
      state.pacing = perSecond.map { AdmissionPace(perSecond: $0, since: time) }
    case .scheduled(let start, let time):
      if state.startsAt != start { state.startsAt = start }
      countDown(to: time, &state)
    case .ticked(let time):
      countDown(to: time, &state)
      return admitAtPace(until: time, &state)
    case .delegate:
      break
    }
    return .none
  }

  private func apply(_ change: Change, to state: inout State) {
    switch change {
    case .joined(let person):
      if !state.people.join(person) { state.leftOut = (state.leftOut ?? 0) + 1 }
    case .left(let person):
      if !leave(person, &state) { state.unmatched += 1 }
    case .admitted(let person):
      if leave(person, &state) { state.admitted += 1 } else { state.unmatched += 1 }
    }
  }

  private func leave(_ person: Person, _ state: inout State) -> Bool {
    // Looked up first, so that observers are not notified of a leave that changes nothing.
    guard state.people.contains(person.id) else { return false }
    state.people.remove(person.id)
    return true
  }

  /// Lets people in, as many as the capacity allows, and reports them to the parent in one action.
  private func admit(_ wanted: some Sequence<Person>, from state: inout State) -> Effect<Action> {
    let people = Array(wanted.prefix(state.freeCapacity))
    guard !people.isEmpty else { return .none }
    for person in people { state.people.remove(person.id) }
    state.admitted += people.count
    return .send(.delegate(.admitted(people)))
  }

  /// Lets in the people who are due since the last tick.
  private func admitAtPace(until time: Timestamp, _ state: inout State) -> Effect<Action> {
    guard state.isAdmitting, let due = state.pacing?.take(until: time) else { return .none }
    return admit(state.people.prefix(due), from: &state)
  }

  private func countDown(to time: Timestamp, _ state: inout State) {
    let seconds = state.startsAt.flatMap { Countdown.seconds(to: $0, from: time) }
    if state.secondsLeft != seconds { state.secondsLeft = seconds }
  }
}

extension WaitingRoomFeature.State {
  /// How many more people may be let in.
  package var freeCapacity: Int { capacity.map { max(0, $0 - admitted) } ?? .max }

  /// Whether people are let in by themselves, as time goes on.
  package var isAdmitting: Bool { pace != nil && !people.isEmpty && freeCapacity > 0 }

  /// Whether a countdown to the beginning of the stream is running.
  package var isCountingDown: Bool { startsAt != nil && secondsLeft != 0 }
}
