import Composable
import HangSimulation
import ViewGraph

/// The foyer in front of the box office, with a view for each of its desks and for each state of
/// its doors.
@Reducer
public struct Foyer {
  @ObservableState
  public struct State: Equatable, Sendable {
    @ObservationStateIgnored var desks: KeyedCollection<Int, Desk> = KeyedCollection()
    @ObservationStateIgnored var doors: Doors = Doors.closed(Notice())

    public init(desks: Int) {
      for number in 1...desks { self.desks.append(Desk(), id: number) }
    }
  }

  @ObservableState
  public struct Desk: Equatable, Sendable {
    var served: Int = 0
  }

  @ObservableState
  public struct Notice: Equatable, Sendable {
    var text: String = "closed"
  }

  @ObservableState
  public enum Doors: Equatable, Sendable {
    case closed(Notice)
    case open(Crowd.State)
  }

  @CasePathable
  public enum Action: Sendable {
    case opened
    case served(desk: Int)
    case crowd(Crowd.Action)
  }

  public var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .opened: state.doors = .open(Crowd.State())
      case .served(let desk): state.desks[id: desk]?.served += 1
      case .crowd: break
      }
      return .none
    }
    .ifCaseLet(\.doors, case: \.open, action: \.crowd) { Crowd() }
  }
}

/// The people who have entered.
@Reducer
public struct Crowd {
  @ObservableState
  public struct State: Equatable, Sendable {
    var people: Int = 0
  }

  @CasePathable
  public enum Action: Sendable { case entered }

  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .entered: state.people += 1
    }
    return .none
  }
}

public struct FoyerView: View {
  public static let name = "FoyerView"
  public func body(_ state: Observed<Foyer.State>, _ context: ViewContext) -> ViewNode {
    .column(
      [
        context.child(NoticeView(), state, \.doors, case: \.closed),
        context.child(CrowdView(), state, \.doors, case: \.open),
      ] + context.each(DeskView(), state, \.desks))
  }
}

public struct DeskView: View {
  public static let name = "DeskView"
  public func body(_ state: Observed<Foyer.Desk>, _ context: ViewContext) -> ViewNode {
    .text("\(state.served) served")
  }
}

public struct NoticeView: View {
  public static let name = "NoticeView"
  public func body(_ state: Observed<Foyer.Notice>, _ context: ViewContext) -> ViewNode {
    .text(state.text)
  }
}

public struct CrowdView: View {
  public static let name = "CrowdView"
  public func body(_ state: Observed<Crowd.State>, _ context: ViewContext) -> ViewNode {
    .text("\(state.people) people")
  }
}

/// - Parameter ignored: The fields whose changes are not observed; `nil` for the ignored fields
///   that the state declares.
public func foyer(desks: Int, ignoring ignored: FieldSet? = nil) -> SimulatedScreen<Foyer.Action> {
  SimulatedScreen(
    FoyerView(), state: { Foyer.State(desks: desks) }, ignoring: ignored,
    reducer: { (_: SimulatedWorld) -> Foyer in Foyer() },
    on: { (action: Foyer.Action) -> [Foyer.Action] in [action] })
}
