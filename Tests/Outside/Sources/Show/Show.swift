import Composable

/// A show with children of every form: permanent, optional, presented, one of several, many, and
/// stacked.
@Reducer
struct Show {
  @ObservableState
  struct State: Equatable, Sendable {
    var search = Search.State()
    var poll: Poll.State?
    var destination: Destination.State?
    var phase: Phase = Phase.waiting
    var guests = KeyedCollection<UInt64, Guest.State>()
    var path = StackState<Page.State>()
  }

  @ObservableState
  enum Phase: Equatable, Sendable {
    case waiting
    case live(Broadcast.State)
  }

  enum Action: Sendable {
    case startTapped
    case endTapped
    case pollTapped
    case settingsTapped
    case leaveTapped
    case guestJoined(String)
    case pageTapped(String)
    case search(Search.Action)
    case poll(Poll.Action)
    case destination(PresentationAction<Destination.Action>)
    case phase(Broadcast.Action)
    case guests(ElementAction<UInt64, Guest.Action>)
    case path(StackAction<Page.Action>)
  }

  let dependencies: Dependencies

  var body: some ReducerOf<Self> {
    Scope(state: \.search, action: \.search) { Search(dependencies: dependencies) }
    Reduce { state, action in
      switch action {
      case .startTapped:
        state.phase = .live(Broadcast.State())
        return .send(.phase(.began))
      case .endTapped: state.phase = .waiting
      case .pollTapped: state.poll = Poll.State()
      case .settingsTapped: state.destination = .settings(Settings.State())
      case .leaveTapped: state.destination = .confirmation(AlertState("Leave?"))
      case .guestJoined(let name):
        state.guests.append(Guest.State(id: dependencies.identifiers.next(), name: name))
      case .pageTapped(let title): state.path.push(Page.State(title: title))
      case .poll(.closed): state.poll = nil
      case .guests(let element):
        if case .leftTapped = element.action { state.guests.remove(id: element.id) }
      case .path(let element):
        if case .backTapped = element.action { state.path.pop() }
      case .search, .poll, .destination, .phase: break
      }
      return .none
    }
    .ifLet(\.poll, action: \.poll) { Poll(clock: dependencies.clock) }
    .presents(\.destination, action: \.destination) {
      Destination.Features(confirmation: Alert(), settings: Settings())
    }
    .ifCaseLet(\.phase, case: \.live, action: \.phase) { Broadcast(clock: dependencies.clock) }
    .forEach(\.guests, action: \.guests) { Guest() }
    .forEach(\.path, action: \.path) { Page() }
  }
}

@Reducer
enum Destination {
  case confirmation(Alert<Confirmation>)
  case settings(Settings)
}

enum Confirmation: Equatable, Sendable {
  case leaveConfirmed
}
