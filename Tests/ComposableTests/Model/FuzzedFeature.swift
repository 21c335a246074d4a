import Composable
import ComposableTesting
import Glibc
import Synchronization

/// A command to a fuzzed child. All times are in nanoseconds.
@CasePathable
enum Act: Equatable, Sendable {
  /// Sends `token` after a delay.
  case work(token: Int, delay: Int, id: Int?, cancelInFlight: Bool)
  /// Sends an action after a delay, whose effect sends `token` after another delay.
  case chain(token: Int, delay: Int, then: Int)
  /// Sends a token at each interval.
  case timer(token: Int, interval: Int, id: Int)
  case debounced(token: Int, pause: Int, delay: Int)
  case throttled(token: Int, interval: Int, delay: Int)
  case cancelled(id: Int)
  /// Sends two tokens directly, without a task.
  case fedBack(token: Int)
  /// After a delay, sends `fedBack`, and another token before or after it.
  case pair(token: Int, delay: Int, endsInFeedback: Bool)
  /// Sends its token even if it is cancelled.
  case stubborn(token: Int, delay: Int, id: Int)
  case failing(delay: Int)
  /// Cancels the effect that it starts.
  case startedAndCancelled(token: Int, delay: Int, id: Int)
  /// Ends immediately, while other code keeps its `send`.
  case escaping(token: Int)
  /// Sends a token directly; another token is sent from outside while the action is reduced.
  case asked(token: Int)
  /// Is followed by itself.
  case endless
  case left
  /// Starts an effect and is removed by its parent in the same action.
  case startedAndGone(token: Int, delay: Int)
  case got(token: Int)
  /// Joins, leaves, or receives a change of the shared volume. The child answers a negative value
  /// with another value.
  case shared(SharedAction<Int>)
  /// Assigns to its volume and is followed by `looked`. Another thread may change the shared volume
  /// before the action ends.
  case assigned(Int, meanwhile: Int?)
  /// Adds to the shared volume, which another thread may change before the action ends.
  case added(Int, meanwhile: Int?)
  /// Records the shared volume.
  case looked
}

/// The identifiers of effects. The identifiers of `work` and `timer` are lower.
enum Name {
  static let debounce = 100
  static let throttle = 101
  /// Around both limits.
  static let limits = 102
}

@ObservableState
struct Subject: Equatable, Identifiable, Sendable {
  var id: Int
  var log: [Int] = []
  var volume = 0

  init(id: Int) { self.id = id }

  /// The answer of a subject to a negative volume. All subjects give the same answer, so that each
  /// change leads to one more change. If several changes arrive while a listener handles one, the
  /// number of delivered changes depends on the lane.
  static func answer(to volume: Int) -> Int { -10 * volume }
}

/// Runs `body` on another thread and waits for it, so that the order of both threads is determined.
func elsewhere(_ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    withUnsafePointer(to: body) { body in
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        {
          $0?.assumingMemoryBound(to: (() -> Void).self).pointee()
          return nil
        }, UnsafeMutableRawPointer(mutating: body))
      pthread_join(thread, nil)
    }
  }
}

struct FuzzedError: Error {}

/// The `send` closures of effects that have ended.
final class LeftBehind: Sendable {
  private let contents = Mutex<[(send: Send<Act>, token: Int)]>([])

  func hold(_ send: Send<Act>, _ token: Int) { contents.withLock { $0.append((send, token)) } }

  /// Sends by the sender at this index. Returns `false` if no sender has this index.
  func use(_ index: Int) -> Bool {
    let entry = contents.withLock { $0.indices.contains(index) ? $0.remove(at: index) : nil }
    guard let entry else { return false }
    entry.send(.got(token: entry.token))
    return true
  }
}

@Reducer
struct SubjectFeature {
  typealias State = Subject
  typealias Action = Act

  let clock: TestClock
  let kept: LeftBehind
  let volume: Shared<Int>

  var body: some ReducerOf<Self> {
    Reduce { state, action in react(&state, action) }
      .sharing(\.volume, with: volume, action: \.shared)
  }

  private func react(_ state: inout Subject, _ action: Act) -> Effect<Act> {
    switch action {
    case .work(let token, let delay, let id, let cancelInFlight):
      let effect = work(token, delay)
      return id.map { effect.cancellable(id: $0, cancelInFlight: cancelInFlight) } ?? effect
    case .startedAndGone(let token, let delay): return work(token, delay)
    case .chain(let token, let delay, let then):
      return .run { [clock] send in
        try await clock.sleep(for: .nanoseconds(delay))
        send(.work(token: token, delay: then, id: nil, cancelInFlight: false))
      }
    case .timer(let token, let interval, let id):
      return .timer(every: .nanoseconds(interval), clock: clock) { _ in .got(token: token) }
        .cancellable(id: id)
    case .debounced(let token, let pause, let delay):
      return work(token, delay)
        .debounce(id: Name.debounce, for: .nanoseconds(pause), clock: clock)
        .cancellable(id: Name.limits)
    case .throttled(let token, let interval, let delay):
      return work(token, delay)
        .throttle(id: Name.throttle, for: .nanoseconds(interval), clock: clock)
        .cancellable(id: Name.limits)
    case .cancelled(let id): return .cancel(id: id)
    case .pair(let token, let delay, let endsInFeedback):
      return .run { [clock] send in
        try await clock.sleep(for: .nanoseconds(delay))
        if endsInFeedback { send(.got(token: token + 2)) }
        send(.fedBack(token: token))
        if !endsInFeedback { send(.got(token: token + 2)) }
      }
    case .stubborn(let token, let delay, let id):
      return .run { [clock] send in
        try? await clock.sleep(for: .nanoseconds(delay))
        send(.got(token: token))
      }
      .cancellable(id: id)
    case .failing(let delay):
      return .run { [clock] _ in
        try await clock.sleep(for: .nanoseconds(delay))
        throw FuzzedError()
      }
    case .startedAndCancelled(let token, let delay, let id):
      return .merge(work(token, delay).cancellable(id: id), .cancel(id: id))
    case .escaping(let token): return .run { [kept] send in kept.hold(send, token) }
    case .asked(let token): return .send(.got(token: token))
    case .endless: return .send(.endless)
    case .fedBack(let token):
      return .merge(.send(.got(token: token)), .send(.got(token: token + 1)))
    case .left: return .dismiss
    case .got(let token): state.log.append(token)
    case .shared(.changed(let value, _)):
      state.log.append(state.volume)
      if value < 0 { state.volume = Subject.answer(to: value) }
    case .shared(.join), .shared(.leave): break
    case .assigned(let value, let meanwhile):
      state.volume = value
      changeElsewhere(meanwhile)
      return .send(.looked)
    case .added(let amount, let meanwhile):
      volume.change(&state.volume) { $0 += amount }
      changeElsewhere(meanwhile)
    case .looked: state.log.append(volume.value)
    }
    return .none
  }

  private func changeElsewhere(_ value: Int?) {
    if let value { elsewhere { volume.change { $0 = value } } }
  }

  private func work(_ token: Int, _ delay: Int) -> Effect<Act> {
    .run { [clock] send in
      try await clock.sleep(for: .nanoseconds(delay))
      send(.got(token: token))
    }
  }
}

/// A child without an identity.
@ObservableState
struct Plain: Equatable, Sendable {
  var subject: Subject
}

@Reducer
struct PlainFeature {
  typealias State = Plain
  typealias Action = Act

  let subject: SubjectFeature.Prepared

  func reduce(into state: inout Plain, action: Act) -> Effect<Act> {
    subject.reduce(into: &state.subject, action: action)
  }
}

/// A child that has one of two cases, with one of several payloads in each case.
@ObservableState
enum Choice: Equatable, Sendable {
  case first(Subject)
  case second(Subject)

  /// Different numbers differ in the case, in the payload's `id`, or in both.
  init(_ id: Int) {
    let subject = Subject(id: id / 2)
    self = id % 2 == 0 ? .first(subject) : .second(subject)
  }

  var subject: Subject {
    switch self {
    case .first(let subject), .second(let subject): subject
    }
  }
}

@Reducer
struct ChoiceFeature {
  typealias State = Choice
  typealias Action = Act

  let subject: SubjectFeature.Prepared

  func reduce(into state: inout Choice, action: Act) -> Effect<Act> {
    func react(_ state: inout Subject) -> Effect<Act> {
      subject.reduce(into: &state, action: action)
    }
    return Choice.CaseLenses.Case_first.modify(&state, react)
      ?? Choice.CaseLenses.Case_second.modify(&state, react) ?? Effect.none
  }
}

/// The position of a fuzzed child.
enum Site: Hashable, Sendable {
  case optional, sheet, phase, plain, choice
  case row(Int)
}

/// A change of a parent's children.
enum Change: Equatable, Sendable {
  /// Inserts a child; a row only if it is absent.
  case put(Site, id: Int)
  case clear(Site)
  /// Removes a row and adds it again.
  case renew(row: Int)
  /// Replaces the collection of rows with another collection.
  case replaceRows([Int])
  /// Cancels the effects of a child by an identifier.
  case cancel(Site, id: Int)
}

@Reducer
struct FuzzedParent {
  @ObservableState
  enum Phase: Equatable, Sendable {
    case idle
    case live(Subject)
  }

  @ObservableState
  struct State: Equatable, Sendable {
    var optional: Subject?
    var sheet: Subject?
    var plain: Plain?
    var choice: Choice?
    var phase: Phase = Phase.idle
    var rows = KeyedCollection<Int, Subject>()
    /// The child that is assigned when the sheet is dismissed.
    var next: Int?
    /// The previous and the new value of `next`.
    var changes: [[Int?]] = []
  }

  enum Action: Equatable, Sendable {
    case change(Change)
    /// Applied by a reducer that runs after the parent of the children.
    case foreignChange(Change)
    case plan(next: Int)
    case optional(Act)
    case sheet(PresentationAction<Act>)
    case plain(Act)
    case choice(Act)
    case phase(Act)
    case rows(ElementAction<Int, Act>)
  }

  let subject: SubjectFeature

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .change(let change): return apply(change, to: &state)
      case .plan(let next): state.next = next
      case .sheet(.dismiss):
        if let next = state.next { state.sheet = Subject(id: next) }
        state.next = nil
      case .optional(.startedAndGone): state.optional = nil
      case .sheet(.presented(.startedAndGone)): state.sheet = nil
      case .phase(.startedAndGone): state.phase = .idle
      case .plain(.startedAndGone): state.plain = nil
      case .choice(.startedAndGone): state.choice = nil
      case .rows(let element):
        if case .startedAndGone = element.action { state.rows.remove(id: element.id) }
      default: break
      }
      return .none
    }
    .ifLet(\.optional, action: \.optional) { subject }
    .presents(\.sheet, action: \.sheet) { subject }
    .ifLet(\.plain, action: \.plain) { PlainFeature(subject: subject.prepare()) }
    .ifLet(\.choice, action: \.choice) { ChoiceFeature(subject: subject.prepare()) }
    .onChange(of: \.next) { old, new, state, _ in
      state.changes.append([old, new])
      return .none
    }
    .ifCaseLet(\.phase, case: \.live, action: \.phase) { subject }
    .forEach(\.rows, action: \.rows) { subject }
    Reduce { state, action in
      guard case .foreignChange(let change) = action else { return .none }
      return apply(change, to: &state)
    }
  }

  private func apply(_ change: Change, to state: inout State) -> Effect<Action> {
    switch change {
    case .put(.optional, let id): state.optional = Subject(id: id)
    case .put(.sheet, let id): state.sheet = Subject(id: id)
    case .put(.plain, let id): state.plain = Plain(subject: Subject(id: id))
    case .put(.choice, let id): state.choice = Choice(id)
    case .put(.phase, let id): state.phase = .live(Subject(id: id))
    case .put(.row(let row), let id): state.rows.append(Subject(id: id), id: row)
    case .clear(.optional): state.optional = nil
    case .clear(.sheet): state.sheet = nil
    case .clear(.plain): state.plain = nil
    case .clear(.choice): state.choice = nil
    case .clear(.phase): state.phase = .idle
    case .clear(.row(let row)): state.rows.remove(id: row)
    case .renew(let row):
      if state.rows.remove(id: row) != nil { state.rows.append(Subject(id: row), id: row) }
    case .replaceRows(let rows):
      var new = KeyedCollection<Int, Subject>()
      for row in rows { new.append(Subject(id: row), id: row) }
      state.rows = new
    case .cancel(.optional, let id): return .cancel(id: id, in: \.optional)
    case .cancel(.sheet, let id): return .cancel(id: id, in: \.sheet)
    case .cancel(.plain, let id): return .cancel(id: id, in: \.plain)
    case .cancel(.choice, let id): return .cancel(id: id, in: \.choice)
    case .cancel(.phase, let id): return .cancel(id: id, in: \.phase)
    case .cancel(.row(let row), let id): return .cancel(id: id, in: \.rows, element: row)
    }
    return .none
  }
}

extension FuzzedParent.Action {
  static func child(_ site: Site, _ act: Act) -> Self {
    switch site {
    case .optional: .optional(act)
    case .sheet: .sheet(.presented(act))
    case .phase: .phase(act)
    case .plain: .plain(act)
    case .choice: .choice(act)
    case .row(let row): .rows(ElementAction(id: row, action: act))
    }
  }

  /// Returns the child that receives a command, if any, and the token that it is sent.
  var asked: (site: Site, token: Int)? {
    let (site, act): (Site, Act)
    switch self {
    case .optional(let action): (site, act) = (.optional, action)
    case .sheet(.presented(let action)): (site, act) = (.sheet, action)
    case .plain(let action): (site, act) = (.plain, action)
    case .choice(let action): (site, act) = (.choice, action)
    case .phase(let action): (site, act) = (.phase, action)
    case .rows(let element): (site, act) = (.row(element.id), element.action)
    case .sheet(.dismiss), .change, .foreignChange, .plan: return nil
    }
    guard case .asked(let token) = act else { return nil }
    return (site, token + 1)
  }
}

extension FuzzedParent.State {
  /// Returns the child at `site`, or `nil` if there is none.
  func subject(at site: Site) -> Subject? {
    switch site {
    case .optional: return optional
    case .sheet: return sheet
    case .plain: return plain?.subject
    case .choice: return choice?.subject
    case .phase:
      guard case .live(let subject) = phase else { return nil }
      return subject
    case .row(let row): return rows[id: row]
    }
  }
}
