package import Composable
package import LiveEvents

/// The people waiting to be admitted, and the time until the stream begins.
@Reducer
package struct WaitingRoomFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The waiting people, in the order of their arrival.
    package var people = WaitingList()
    package var admitted = 0
    /// The maximum number of people that the host admits, or `nil` for no limit. People whom the
    /// platform admits are counted even beyond this limit.
    package var capacity: Int?
    /// The number of people admitted automatically per second, or `nil` for none.
    package var pace: Double?
    @ObservationStateIgnored package var pacing: AdmissionPace?
    /// The scheduled start of the stream, if known.
    package var startsAt: Timestamp?
    /// The whole seconds until the start, rounded up, if the start is known.
    package var secondsLeft: Int?
    /// The number of times that a person who was not waiting left or was admitted. These are not
    /// errors, because sources repeat events and miss joins.
    package var unmatched = 0
    /// The number of people omitted because the list was full, or `nil` if it never was.
    package var leftOut: Int?

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    /// The changes since the last frame, in order.
    case changed([Change])
    case admitNextTapped
    /// The host admits as many people as the capacity allows.
    case admitAllTapped
    /// The host admits a waiting person, if the capacity allows.
    case admitPersonTapped(Text)
    case capacityChanged(Int?)
    /// Starting at this time, this number of people per second is admitted automatically; with
    /// `nil`, nobody is.
    case paceChanged(Double?, at: Timestamp)
    /// The stream is scheduled to start at the first timestamp, if known. The second timestamp is
    /// the time of the announcement.
    case scheduled(Timestamp?, at: Timestamp)
    /// The time of the events has advanced.
    case ticked(at: Timestamp)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// The host admitted these people, in the order of their arrival.
    case admitted([Person])
  }

  package enum Change: Equatable, Sendable {
    case joined(Person)
    case left(Person)
    case admitted(Person)
  }

  package init() {}

  /// Takes O(1) on average per change.
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
    // The person is looked up first, so that observers are not notified without a change.
    guard state.people.contains(person.id) else { return false }
    state.people.remove(person.id)
    return true
  }

  /// Admits as many of the people as the capacity allows, and reports them to the parent in one
  /// action.
  private func admit(_ candidates: some Sequence<Person>, from state: inout State) -> Effect<Action>
  {
    let people = Array(candidates.prefix(state.freeCapacity))
    guard !people.isEmpty else { return .none }
    for person in people { state.people.remove(person.id) }
    state.admitted += people.count
    return .send(.delegate(.admitted(people)))
  }

  /// Admits the people who have become due since the last tick.
  private func admitAtPace(until time: Timestamp, _ state: inout State) -> Effect<Action> {
    guard state.isAdmitting, let due = state.pacing?.removeDue(until: time) else { return .none }
    return admit(state.people.prefix(due), from: &state)
  }

  private func countDown(to time: Timestamp, _ state: inout State) {
    let seconds = state.startsAt.flatMap { Countdown.seconds(to: $0, from: time) }
    if state.secondsLeft != seconds { state.secondsLeft = seconds }
  }
}

extension WaitingRoomFeature.State {
  /// The number of people who may still be admitted.
  package var freeCapacity: Int { capacity.map { max(0, $0 - admitted) } ?? .max }

  /// Whether people are being admitted automatically.
  package var isAdmitting: Bool { pace != nil && !people.isEmpty && freeCapacity > 0 }

  /// Whether a countdown to the start of the stream is running.
  package var isCountingDown: Bool { startsAt != nil && secondsLeft != 0 }
}

extension WaitingRoomFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    for person in people { try check(person, "people") }
    try require(countable: admitted, capacity, secondsLeft, unmatched, leftOut, in: "admitted")
    try require(pace.map(EventLimits.measure.contains) ?? true, "pace")
    try require(times: startsAt, in: "startsAt")
  }
}
