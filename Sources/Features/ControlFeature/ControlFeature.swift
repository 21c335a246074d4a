package import Composable
package import LiveEvents

/// The panel of sliders, switches, and level meters.
///
/// While a slider is dragged, its value is local. The value is committed once, when the slider is
/// released, or after a time-out if the release never arrives.
///
/// If a controller drives the real control, committing a value sends a request to the controller.
/// The value is pending until the controller confirms it. If the controller refuses, the old value
/// stays.
@Reducer
package struct ControlFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The committed values of the sliders, from 0 to 1.
    package var values = ControlTable<Double>()
    package var switches = ControlTable<Bool>()
    /// The sliders that are being dragged, with their local values.
    package var dragging = ControlTable<Double>()
    /// The newest levels of the audio inputs, from 0 to 1, one per channel.
    package var meters = ControlTable<[Float]>()
    /// The number of values committed so far.
    package var committed = 0
    /// The requests to controllers, or `nil` until the first controller connects.
    package var requests: Requests?
    @ObservationStateIgnored package var bookkeeping = DragBookkeeping()

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case sliderBegan(control: String, value: Double)
    case sliderMoved(control: String, value: Double)
    case sliderReleased(control: String, value: Double)
    /// `on` is the new position of the switch, or `nil` to toggle the switch.
    case tapped(control: String, on: Bool?)
    case meterRead(input: String, levels: [Float])
    /// A slider was set remotely, in one step.
    case set(control: String, value: Double)
    /// The real control has this value or position, no matter where it was changed.
    case reported(control: String, ControlState)
    case ticked
    case surface(ControllerEvent)
    /// A request has an outcome.
    case answered(request: Int, RequestOutcome)
    /// The host wants to start, stop, pause, or resume an external recorder. Ignored unless a
    /// controller drives a recorder.
    case recordingRequested(RecorderWish)
    /// The host or a moderator acts on a platform. Boxed, because an act is larger than other
    /// actions.
    indirect case actRequested(RequestedAct)
    /// The host requests the end of the stream, and a controller can end the stream.
    case endStreamRequested
    /// The stream has ended for any reason.
    case streamEnded
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// A slider has a new, final value.
    case committed(control: String, value: Double)
    /// The switch ``ControlFeature/endStream``, which has no position, was tapped. The parent asks
    /// whether the stream should end.
    case endStreamTapped(on: Bool?)
    /// A request has ended: it was confirmed, refused, or replaced.
    case requestEnded(ControlRequest, RequestOutcome)
  }

  /// The name of the control that ends the stream.
  package static let endStream = "endStream"
  /// The name of the control that starts and stops an external recorder.
  package static let recorder = "recorder"

  private let dependencies: Dependencies

  package init(dependencies: Dependencies = .live()) { self.dependencies = dependencies }

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .sliderBegan(let control, let value), .sliderMoved(let control, let value):
      // A change without a beginning also counts as a drag.
      if state.dragging[control] != value { state.dragging[control] = value }
      state.bookkeeping.recordMove(of: control)
      return withdraw(control, in: &state)
    case .sliderReleased(let control, let value):
      if state.dragging[control] != nil { state.dragging[control] = nil }
      let isOver = state.bookkeeping.recordRelease(of: control)
      // A time-out already committed this drag with the same value.
      if isOver, state.values[control] == clamped(value) { return .none }
      return commit(value, of: control, in: &state)
    case .tapped(Self.endStream, let on):
      return .send(.delegate(.endStreamTapped(on: on)))
    case .tapped(let control, let on):
      let position = on ?? !(state.position(of: control) ?? false)
      return perform(.switch(control, position), in: &state)
    case .meterRead(let input, let levels):
      if state.meters[input] != levels { state.meters[input] = levels }
      return .none
    case .set(let control, let value):
      // An active drag has priority: it continues with its local value, and its release is
      // committed last.
      return commit(value, of: control, in: &state)
    case .reported(let control, .value(let value)):
      if state.values[control] != value { state.values[control] = value }
      return .none
    case .reported(let control, .position(let on)):
      if state.switches[control] != on { state.switches[control] = on }
      return .none
    case .ticked:
      return commitLostDrags(&state)
    case .surface(let event):
      return apply(event, in: &state)
    case .answered(let request, let outcome):
      return end(request, outcome, in: &state)
    case .recordingRequested(let wish):
      return perform(.record(wish), in: &state)
    case .actRequested(let act):
      // The room checks an act before it becomes an event, so an act is refused here only if a
      // recording was altered.
      guard let request = try? state.requests?.begin(act) else { return .none }
      return carryOut(request)
    case .endStreamRequested:
      return perform(.endStream, in: &state)
    case .streamEnded:
      guard let request = state.requests?.outstanding(for: Self.endStream) else { return .none }
      return finish(request.number, .confirmed, in: &state)
    case .delegate:
      return .none
    }
  }

  /// Commits the drags whose end appears to be lost.
  private func commitLostDrags(_ state: inout State) -> Effect<Action> {
    guard !state.dragging.isEmpty else { return .none }
    var effects: [Effect<Action>] = []
    for drag in state.dragging.entries where state.bookkeeping.recordTick(of: drag.name) {
      state.dragging[drag.name] = nil
      // A request must begin in an action of this feature, but the parent runs this reducer as part
      // of the parent's own tick. The value is therefore sent as an action.
      let isRequest = state.requests?.controller(for: drag.name) != nil
      effects.append(
        isRequest
          ? .send(.set(control: drag.name, value: drag.value))
          : commit(drag.value, of: drag.name, in: &state))
    }
    return .merge(effects)
  }

  private func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }

  /// Commits a value after a release or a time-out, or when it is set remotely.
  private func commit(
    _ value: Double, of control: String, in state: inout State
  ) -> Effect<Action> {
    perform(.slider(control, clamped(value)), in: &state)
  }

  /// Carries out a host action: as a request if a controller accepts it, and otherwise immediately.
  private func perform(_ command: ControlRequest.Command, in state: inout State) -> Effect<Action> {
    guard state.requests != nil, let control = command.control else {
      return accept(command, in: &state)
    }
    let withdrawn = withdraw(control, in: &state)
    guard state.requests?.controller(for: control) != nil,
      let request = state.requests?.begin(command, for: control)
    else { return withdrawn.followed(by: accept(command, in: &state)) }
    return withdrawn.followed(by: carryOut(request))
  }

  private func accept(_ command: ControlRequest.Command, in state: inout State) -> Effect<Action> {
    switch command {
    case .slider(let control, let value):
      if state.values[control] != value { state.values[control] = value }
      state.committed += 1
      return .send(.delegate(.committed(control: control, value: value)))
    case .switch(let control, let position):
      if state.switches[control] != position { state.switches[control] = position }
      return .none
    case .endStream, .record, .act:
      return .none
    }
  }
}

// MARK: Requests

extension ControlFeature.State {
  /// Returns the requested position of a switch, or else its current position.
  fileprivate func position(of control: String) -> Bool? {
    if case .switch(_, let position)? = requests?.outstanding(for: control)?.command {
      return position
    }
    return switches[control]
  }
}

extension ControlFeature {
  private struct RequestID: Hashable { let number: Int }

  /// Sends a request to a controller, and waits for the answer or the time-out, whichever is first.
  private func carryOut(_ request: ControlRequest) -> Effect<Action> {
    let (controller, clock) = (dependencies[Controller.self], dependencies.clock)
    let number = request.number
    let answer = Effect<Action>.run(name: "ControlFeature.request") { send in
      send(.answered(request: number, try await controller.carryOut(request)))
    }
    let timeOut = Effect<Action>.run(name: "ControlFeature.timeOut") { send in
      try await clock.sleep(for: controller.patience())
      send(.answered(request: number, .refused(reason: ControlRequest.noAnswer)))
    }
    // A confirmed request has its answer, and waits only for its effect.
    return (request.isConfirmed ? timeOut : .merge(answer, timeOut))
      .cancellable(id: RequestID(number: number))
  }

  private func apply(_ event: ControllerEvent, in state: inout State) -> Effect<Action> {
    var requests = state.requests ?? Requests()
    switch event {
    case .began(let controller, let controls, let acts):
      requests.add(
        Requests.ConnectedController(
          number: controller, controls: controls?.map { String($0) }, acts: acts))
      state.requests = requests
      return .none
    case .ended(let controller):
      let lost = requests.remove(controller)
      state.requests = requests
      return .merge(
        lost.map { request in
          let reason =
            request.command.act == nil ? ControlRequest.controllerLeft : ControlRequest.actorLeft
          return end(request.number, .refused(reason: reason), in: &state)
        })
    case .restarted:
      // Requests for controls that were outstanding when the daemon ended are sent again. Acts are
      // not, because they may already have been carried out.
      requests.removeControllers()
      state.requests = requests
      return .merge(
        requests.outstanding.map { request in
          guard request.command.act != nil else { return carryOut(request) }
          return end(
            request.number, .refused(reason: ControlRequest.restarted), in: &state)
        })
    }
  }

  /// Ends a request with an outcome. Has no effect if the request has already ended.
  private func end(
    _ number: Int, _ outcome: RequestOutcome, in state: inout State
  ) -> Effect<Action> {
    let request = state.requests?.outstanding.first { $0.number == number }
    if request?.command == .endStream, outcome.isSuccess {
      // The controller's confirmation does not end the stream: the stream ends when its source
      // reports the end.
      state.requests?.recordConfirmation(of: number)
      return .none
    }
    return finish(number, outcome, in: &state)
  }

  /// Withdraws the request for a control, because the host requests something else.
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
    guard let request = state.requests?.end(number, outcome) else { return .none }
    let accepted = outcome.isSuccess ? accept(request.command, in: &state) : .none
    return .merge(
      .cancel(id: RequestID(number: number)), accepted,
      .send(.delegate(.requestEnded(request, outcome))))
  }
}

extension ControlFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try values.checkBounds("values", EventLimits.fraction.contains)
    try switches.checkBounds("switches")
    try dragging.checkBounds("dragging", EventLimits.fraction.contains)
    try meters.checkBounds("meters") { $0.count <= ControlEvent.maximumChannels }
    try require(countable: committed, in: "committed")
    try check(requests, "requests")
    try check(bookkeeping, "bookkeeping")
  }
}
