import Composable
import HangSimulation
import RateLimiting
import ViewGraph

/// The seats of a hall, for which demand is high.
@Reducer
public struct BoxOffice {
  @ObservableState
  public struct State: Equatable, Sendable {
    var sold: Int = 0
    var failures: Int = 0
    @ObservationStateIgnored var queue: Queue.State = Queue.State()
  }

  @CasePathable
  public enum Action: Sendable {
    case seatWanted
    case reserved
    case refused
    case queue(Queue.Action)
  }

  let reserve: @Sendable () async throws -> Void

  public var body: some ReducerOf<Self> {
    Scope(state: \.queue, action: \.queue) { Queue() }
    Reduce { state, action in
      switch action {
      case .seatWanted:
        return .run { [reserve] send in
          try await reserve()
          send(.reserved)
        } catch: { _, send in
          send(.refused)
        }
      case .reserved: state.sold += 1
      case .refused: state.failures += 1
      case .queue: break
      }
      return .none
    }
  }
}

/// The waiting people.
@Reducer
public struct Queue {
  @ObservableState
  public struct State: Equatable, Sendable {
    var names: [String] = []
  }

  @CasePathable
  public enum Action: Sendable { case came(String) }

  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .came(let name): state.names.append(name)
    }
    return .none
  }
}

public struct BoxOfficeView: View {
  public static let name = "BoxOfficeView"
  public func body(_ state: Observed<BoxOffice.State>, _ context: ViewContext) -> ViewNode {
    .column([.text("\(state.sold) sold"), context.child(QueueView(), state, \.queue)])
  }
}

public struct QueueView: View {
  public static let name = "QueueView"
  public func body(_ state: Observed<Queue.State>, _ context: ViewContext) -> ViewNode {
    .list(state.names.enumerated().map { .init(id: "\($0)", .text($1)) })
  }
}

public enum Visitor: Sendable {
  case came(String)
  case wantsSeat
}

/// Keeps only the newest request for a seat, and delivers at most ten per second.
struct WishThrottle: EventThrottle {
  private var held: BoxOffice.Action?
  private(set) var deadline: Instant?
  private(set) var coalesced = 0
  var pending: Int { held == nil ? 0 : 1 }

  mutating func receive(
    _ event: Visitor, at now: Instant, into actions: inout [BoxOffice.Action]
  ) {
    switch event {
    case .came(let name): actions.append(.queue(.came(name)))
    case .wantsSeat:
      if held != nil { coalesced += 1 }
      held = .seatWanted
      deadline = deadline ?? now + .milliseconds(100)
    }
  }

  mutating func wake(at now: Instant, into actions: inout [BoxOffice.Action]) {
    guard let deadline, now >= deadline, let held else { return }
    actions.append(held)
    (self.held, self.deadline) = (nil, nil)
  }
}

public let boxOffice = SimulatedScreen<Visitor>(
  BoxOfficeView(), state: { BoxOffice.State() },
  reducer: { (world: SimulatedWorld) -> BoxOffice in
    let hall = world.effect(
      "hall", EffectModel(latency: .milliseconds(80), cost: .milliseconds(5), failures: 0.2))
    return BoxOffice(reserve: { try await hall.succeed() })
  }, throttle: { WishThrottle() })

public let visitors: [EventStream<Visitor>] = [
  .poisson(every: .milliseconds(50)) { .came("visitor \($0.integer(in: 1...99))") },
  .poisson(every: .milliseconds(20), from: .seconds(2)) { _ in .wantsSeat },
]

public let phone = Device(
  "phone", cores: 4,
  costs: DeviceProfile.Costs(
    action: .microseconds(100),
    view: .cost(.milliseconds(2), element: .microseconds(500), appearance: .milliseconds(10))))

public func boxOfficePlan() throws -> SimulationPlan {
  SimulationPlan(
    "box office", seed: 7, duration: .seconds(20), devices: [phone, phone.slowed(by: 2)],
    variants: [
      boxOffice.variant("default", events: visitors),
      boxOffice.variant("fewer", events: Array(visitors.dropFirst())),
    ],
    thresholds: [
      try Threshold("effect(hall).failed > 0"), try Threshold("p95(hangs) < 1 for fewer"),
    ])
}
