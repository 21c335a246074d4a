package import Composable
package import LiveEvents

/// The panel of sliders, switches and level meters.
///
/// A slider's value is local while it is dragged, and is committed once, by its release. If the
/// release never comes, it is committed after some time.
///
/// Where a surface drives the real control, a commitment is a request to it: the value is pending until the
/// surface confirms it, and the old one stays if it does not.
@Reducer
package struct ControlFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// Committed values of sliders, from 0 to 1.
    package var values = ControlTable<Double>()
    /// Positions of switches.
    package var switches = ControlTable<Bool>()
    /// Sliders that are being dragged, with their local values.
    package var dragging = ControlTable<Double>()
    /// The newest levels of audio inputs, from 0 to 1, one per channel.
    package var meters = ControlTable<[Float]>()
    /// How many values have been committed.
    package var committed = 0
    /// What is asked of surfaces; `nil` until the first one comes.
    package var requests: Requests?
    /// Not for views.
    @ObservationStateIgnored package var bookkeeping = DragBookkeeping()

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case sliderBegan(control: String, value: Double)
    case sliderMoved(control: String, value: Double)
    case sliderReleased(control: String, value: Double)
    /// `on` is the new position of the switch; without it, the switch toggles.
    case tapped(control: String, on: Bool?)
    case meterRead(input: String, levels: [Float])
    /// A slider was set from elsewhere, in one step.
    case set(control: String, value: Double)
    /// The real control has this, wherever it was moved.
    case reported(control: String, ControlState)
    /// A second has passed.
    case ticked
    case surface(ControlSurfaceEvent)
    /// A request has an outcome.
    case answered(request: Int, RequestOutcome)
    /// The host wants something of a recorder elsewhere. Nothing happens where no surface drives one.
    case recordingRequested(RecorderWish)
    /// The host wants the stream to end, and a surface can do that.
    case endStreamRequested
    /// The stream has ended, whoever did that.
    case streamEnded
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// A slider has a new, final value.
    case committed(control: String, value: Double)
    /// The switch ``ControlFeature/endStream`` was tapped. It has no position of its own: the
    /// parent asks whether the stream should end.
    case endStreamTapped(on: Bool?)
    /// A request has ended: done, refused, or replaced.
    case requestEnded(ControlRequest, RequestOutcome)
  }

  /// The name of the control that ends the stream.
  package static let endStream = "endStream"
  /// The name of the control that starts and stops a recorder elsewhere.
  package static let recorder = "recorder"

  private let dependencies: Dependencies

  package init(dependencies: Dependencies = .live()) { self.dependencies = dependencies }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .sliderBegan(let control, let value), .sliderMoved(let control, let value):
      // A change without a beginning is a drag as well.
      if state.dragging[control] != value { state.dragging[control] = value }
      state.bookkeeping.noteMove(of: control)
      return withdraw(control, in: &state)
    case .sliderReleased(let control, let value):
      if state.dragging[control] != nil { state.dragging[control] = nil }
      let isOver = state.bookkeeping.noteRelease(of: control)
      // This drag was already committed by a time-out, with the same value.
      if isOver, state.values[control] == clamped(value) { return .none }
      return commit(value, of: control, in: &state)
    case .tapped(Self.endStream, let on):
      return .send(.delegate(.endStreamTapped(on: on)))
    case .tapped(let control, let on):
      let position = on ?? !(state.position(of: control) ?? false)
      return wish(.switch(control, position), in: &state)
    case .meterRead(let input, let levels):
      if state.meters[input] != levels { state.meters[input] = levels }
      return .none
    case .set(let control, let value):
      // The finger wins: a drag continues with its local value, and its release has the last word.
      return commit(value, of: control, in: &state)
    case .reported(let control, .value(let value)):
      if state.values[control] != value { state.values[control] = value }
      return .none
    case .reported(let control, .position(let on)):
      if state.switches[control] != on { state.switches[control] = on }
      return .none
    case .ticked:
      return commitForgottenDrags(&state)
    case .surface(let event):
      return note(event, in: &state)
    case .answered(let request, let outcome):
      return end(request, outcome, in: &state)
    case .recordingRequested(let wanted):
      return wish(.record(wanted), in: &state)
    case .endStreamRequested:
      return wish(.endStream, in: &state)
    case .streamEnded:
      guard let request = state.requests?.outstanding(for: Self.endStream) else { return .none }
      return finish(request.number, .confirmed, in: &state)
    case .delegate:
      return .none
    }
  }

  /// Commits the drags whose end appears to be lost.
  private func commitForgottenDrags(_ state: inout State) -> Effect<Action> {
    guard !state.dragging.isEmpty else { return .none }
    var effects: [Effect<Action>] = []
    for drag in state.dragging.entries where state.bookkeeping.noteTick(of: drag.name) {
      state.dragging[drag.name] = nil
      // The parent runs this for its own tick, and a request is to belong to this feature.
      let isRequest = state.requests?.surface(for: drag.name) != nil
      effects.append(
        isRequest
          ? .send(.set(control: drag.name, value: drag.value))
          : commit(drag.value, of: drag.name, in: &state))
    }
    return .merge(effects)
  }

  private func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }

  /// Commits a value, whether it comes from a release, a time-out or elsewhere.
  private func commit(
    _ value: Double, of control: String, in state: inout State
  ) -> Effect<Action> {
    wish(.slider(control, clamped(value)), in: &state)
  }

  /// Does what the host wants: at once or, where a surface takes it, as a request.
  private func wish(_ wish: ControlRequest.Wish, in state: inout State) -> Effect<Action> {
    guard state.requests != nil else { return accept(wish, in: &state) }
    let withdrawn = withdraw(wish.control, in: &state)
    guard state.requests?.surface(for: wish.control) != nil,
      let request = state.requests?.begin(wish)
    else { return withdrawn.followed(by: accept(wish, in: &state)) }
    return withdrawn.followed(by: carryOut(request))
  }

  private func accept(_ wish: ControlRequest.Wish, in state: inout State) -> Effect<Action> {
    switch wish {
    case .slider(let control, let value):
      if state.values[control] != value { state.values[control] = value }
      state.committed += 1
      return .send(.delegate(.committed(control: control, value: value)))
    case .switch(let control, let position):
      if state.switches[control] != position { state.switches[control] = position }
      return .none
    case .endStream, .record:
      return .none
    }
  }
}

// MARK: Requests

extension ControlFeature.State {
  /// The position of a switch, or the one that is asked for.
  fileprivate func position(of control: String) -> Bool? {
    if case .switch(_, let position)? = requests?.outstanding(for: control)?.wish {
      return position
    }
    return switches[control]
  }
}

extension ControlFeature {
  private struct RequestID: Hashable { let number: Int }

  /// Asks a surface, until it answers or time is up. Both are inputs, of which the first one counts.
  private func carryOut(_ request: ControlRequest) -> Effect<Action> {
    let (surface, clock) = (dependencies[ControlSurface.self], dependencies.clock)
    let number = request.number
    let answer = Effect<Action>.run(name: "ControlFeature.request") { send in
      send(.answered(request: number, try await surface.carryOut(request)))
    }
    let timeOut = Effect<Action>.run(name: "ControlFeature.timeOut") { send in
      try await clock.sleep(for: surface.patience())
      send(.answered(request: number, .refused(reason: ControlRequest.noAnswer)))
    }
    // What is confirmed already waits for its effect only.
    return (request.isConfirmed ? timeOut : .merge(answer, timeOut))
      .cancellable(id: RequestID(number: number))
  }

  private func note(_ event: ControlSurfaceEvent, in state: inout State) -> Effect<Action> {
    var requests = state.requests ?? Requests()
    switch event {
    case .began(let surface, let controls):
      requests.add(Requests.Surface(number: surface, controls: controls?.map { String($0) }))
      state.requests = requests
      return .none
    case .ended(let surface):
      let lost = requests.remove(surface)
      state.requests = requests
      return .merge(
        lost.map { end($0, .refused(reason: ControlRequest.surfaceLeft), in: &state) })
    case .restarted:
      // What was under way when the program ended begins anew.
      requests.forgetSurfaces()
      state.requests = requests
      return .merge(requests.outstanding.map(carryOut))
    }
  }

  /// Ends a request by its outcome; one that has ended before has none.
  private func end(
    _ number: Int, _ outcome: RequestOutcome, in state: inout State
  ) -> Effect<Action> {
    let request = state.requests?.outstanding.first { $0.number == number }
    if request?.wish == .endStream, outcome == .confirmed {
      // The stream ends when its source says so.
      state.requests?.noteConfirmation(of: number)
      return .none
    }
    return finish(number, outcome, in: &state)
  }

  /// Voids the request for a control, since the host wants something else.
  private func withdraw(_ control: String, in state: inout State) -> Effect<Action> {
    guard let request = state.requests?.outstanding(for: control) else { return .none }
    _ = state.requests?.end(request.number)
    return .merge(
      .cancel(id: RequestID(number: request.number)),
      .send(
        .delegate(.requestEnded(request, .refused(reason: ControlRequest.replaced)))))
  }

  private func finish(
    _ number: Int, _ outcome: RequestOutcome, in state: inout State
  ) -> Effect<Action> {
    var failure: String?
    if case .refused(let reason) = outcome { failure = reason }
    guard let request = state.requests?.end(number, failure: failure) else { return .none }
    let accepted = outcome == .confirmed ? accept(request.wish, in: &state) : .none
    return .merge(
      .cancel(id: RequestID(number: number)), accepted,
      .send(.delegate(.requestEnded(request, outcome))))
  }
}
