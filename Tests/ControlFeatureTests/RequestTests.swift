import Composable
import ComposableTesting
import ControlFeature
import LiveEvents
import Synchronization
import Testing

/// A controller that answers when the test calls it.
private final class ScriptedController: Sendable {
  private typealias Answer = CheckedContinuation<RequestOutcome, any Error>
  private let waiting = Mutex<[Int: Answer]>([:])

  var client: Controller {
    Controller(patience: { .seconds(5) }) { [self] request in
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { answer in
          waiting.withLock { $0[request.number] = answer }
        }
      } onCancel: {
        waiting.withLock { $0.removeValue(forKey: request.number) }?
          .resume(throwing: CancellationError())
      }
    }
  }

  /// Answers all requests that were not withdrawn.
  func answer(_ outcome: RequestOutcome) {
    let answers = waiting.withLock { waiting in
      defer { waiting = [:] }
      return Array(waiting.values)
    }
    for answer in answers { answer.resume(returning: outcome) }
  }
}

/// Sliders and switches that a controller moves.
@Suite struct RequestTests {
  private typealias State = ControlFeature.State
  private typealias TestedStore = TestStore<State, ControlFeature.Action>

  private let clock = TestClock()
  private let controller = ScriptedController()

  private func makeStore(_ requests: Requests? = Requests(controller: 1)) -> TestedStore {
    var state = State()
    state.values["zoom"] = 0.2
    state.requests = requests
    let dependencies = Dependencies.test(clock: clock).overriding(controller.client)
    return TestStore(initialState: state, clock: clock) {
      ControlFeature(dependencies: dependencies)
    }
  }

  private func request(
    _ number: Int, _ command: ControlRequest.Command = .slider("zoom", 0.5), controller: Int? = 1
  ) -> ControlRequest {
    ControlRequest(number: number, command: command, controller: controller)
  }

  /// Releases the slider `zoom`, and expects the request.
  private func release(_ value: Double, _ number: Int, _ store: TestedStore) async {
    await store.send(.sliderReleased(control: "zoom", value: value)) { state in
      state.requests?.last = number
      state.requests?.outstanding = [request(number, .slider("zoom", value))]
      state.requests?.failures = ControlTable()
    }
  }

  @Test func `a new value of a control is committed immediately if no controller is connected`()
    async
  {
    let store = makeStore(nil)
    await store.send(.sliderReleased(control: "zoom", value: 0.5)) {
      $0.values["zoom"] = 0.5
      $0.committed = 1
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.5)))
    await store.finish()
  }

  @Test func `a released slider is one request, and is committed when the request is confirmed`()
    async
  {
    let store = makeStore()
    await store.send(.sliderBegan(control: "zoom", value: 0.3)) {
      $0.dragging["zoom"] = 0.3
      $0.bookkeeping.expectMove(of: "zoom")
    }
    await store.send(.sliderReleased(control: "zoom", value: 0.5)) {
      $0.dragging["zoom"] = nil
      $0.bookkeeping = DragBookkeeping()
      $0.requests?.last = 1
      $0.requests?.outstanding = [request(1)]
    }
    controller.answer(.confirmed)
    await store.receive(.answered(request: 1, .confirmed)) {
      $0.values["zoom"] = 0.5
      $0.committed = 1
      $0.requests?.outstanding = []
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.5)))
    await store.receive(.delegate(.requestEnded(request(1), .confirmed)))
    await store.finish()
  }

  @Test
  func `a refused request keeps the confirmed value and shows the reason until the next request`()
    async
  {
    let store = makeStore()
    await release(0.5, 1, store)
    controller.answer(.refused(reason: "locked"))
    await store.receive(.answered(request: 1, .refused(reason: "locked"))) {
      $0.requests?.outstanding = []
      $0.requests?.failures["zoom"] = "locked"
    }
    await store.receive(.delegate(.requestEnded(request(1), .refused(reason: "locked"))))
    #expect(store.state.values["zoom"] == 0.2)
    await release(0.6, 2, store)
    #expect(store.state.requests?.failures.isEmpty == true)
    await store.skipInFlightEffects()
    await store.finish()
  }

  @Test func `a request that no controller answers is refused after a time-out`() async {
    let store = makeStore()
    await release(0.5, 1, store)
    clock.advance(by: .milliseconds(4_999))
    clock.advance(by: .milliseconds(1))
    await store.receive(.answered(request: 1, .refused(reason: "no answer"))) {
      $0.requests?.outstanding = []
      $0.requests?.failures["zoom"] = "no answer"
    }
    await store.receive(.delegate(.requestEnded(request(1), .refused(reason: "no answer"))))
    await store.finish()
  }

  @Test func `a new drag withdraws the pending request, and its release makes a new request`() async
  {
    let store = makeStore()
    await release(0.5, 1, store)
    await store.send(.sliderBegan(control: "zoom", value: 0.5)) {
      $0.dragging["zoom"] = 0.5
      $0.bookkeeping.expectMove(of: "zoom")
      $0.requests?.outstanding = []
    }
    await store.receive(
      .delegate(.requestEnded(request(1), .refused(reason: ControlRequest.replaced))))
    // The request is withdrawn, so neither an answer nor the time-out has an effect.
    controller.answer(.confirmed)
    clock.advance(by: .seconds(6))
    await store.send(.sliderReleased(control: "zoom", value: 0.7)) {
      $0.dragging["zoom"] = nil
      $0.bookkeeping = DragBookkeeping()
      $0.requests?.last = 2
      $0.requests?.outstanding = [request(2, .slider("zoom", 0.7))]
    }
    await store.skipInFlightEffects()
    await store.skipReceivedActions(strict: false)
    await store.finish()
  }

  @Test func `the answer to a request that has ended is ignored`() async {
    let store = makeStore()
    await store.send(.answered(request: 7, .confirmed))
    await store.finish()
  }

  @Test func `a tap toggles the requested position of a switch and replaces the earlier request`()
    async
  {
    let store = makeStore()
    await store.send(.tapped(control: "camera", on: nil)) {
      $0.requests?.last = 1
      $0.requests?.outstanding = [request(1, .switch("camera", true))]
    }
    await store.send(.tapped(control: "camera", on: nil)) {
      $0.requests?.last = 2
      $0.requests?.outstanding = [request(2, .switch("camera", false))]
    }
    await store.receive(
      .delegate(
        .requestEnded(
          request(1, .switch("camera", true)), .refused(reason: ControlRequest.replaced))))
    controller.answer(.confirmed)
    await store.receive(.answered(request: 2, .confirmed)) {
      $0.switches["camera"] = false
      $0.requests?.outstanding = []
    }
    await store.receive(
      .delegate(.requestEnded(request(2, .switch("camera", false)), .confirmed)))
    await store.finish()
  }

  @Test func `the requests of a controller fail immediately when it disconnects`() async {
    let store = makeStore()
    await release(0.5, 1, store)
    await store.send(.surface(.ended(controller: 1))) {
      $0.requests?.controllers = []
      $0.requests?.outstanding = []
      $0.requests?.failures["zoom"] = "the surface left"
    }
    await store.receive(.delegate(.requestEnded(request(1), .refused(reason: "the surface left"))))
    // No controller is connected, so the value is committed immediately.
    await store.send(.set(control: "zoom", value: 0.9)) {
      $0.values["zoom"] = 0.9
      $0.committed = 1
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.9)))
    await store.finish()
  }

  @Test func `after a restart, a request is sent again to the next controller`() async {
    var requests = Requests(controller: 1)
    requests.last = 4
    requests.outstanding = [request(4)]
    let store = makeStore(requests)
    await store.send(.surface(.restarted)) {
      $0.requests?.controllers = []
      $0.requests?.outstanding = [request(4, controller: nil)]
    }
    await store.send(.surface(.began(controller: 1, controls: nil))) {
      $0.requests = requests
    }
    controller.answer(.confirmed)
    await store.receive(.answered(request: 4, .confirmed)) {
      $0.values["zoom"] = 0.5
      $0.committed = 1
      $0.requests?.outstanding = []
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.5)))
    await store.receive(.delegate(.requestEnded(request(4), .confirmed)))
    await store.finish()
  }

  @Test func `a drag that is committed by a time-out also becomes a request`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.sliderBegan(control: "zoom", value: 0.5))
    for _ in 0..<DragBookkeeping.patience { await store.send(.ticked) }
    await store.receive(.set(control: "zoom", value: 0.5)) {
      $0.requests?.outstanding = [request(1)]
    }
    await store.skipInFlightEffects()
    await store.finish()
  }

  @Test func `a host action on an external recorder is a request, and a later request replaces it`()
    async
  {
    let store = makeStore()
    await store.send(.recordingRequested(.start)) {
      $0.requests?.last = 1
      $0.requests?.outstanding = [request(1, .record(.start))]
    }
    await store.send(.recordingRequested(.stop)) {
      $0.requests?.last = 2
      $0.requests?.outstanding = [request(2, .record(.stop))]
    }
    await store.receive(
      .delegate(
        .requestEnded(
          request(1, .record(.start)), .refused(reason: ControlRequest.replaced))))
    controller.answer(.refused(reason: "no disk"))
    await store.receive(.answered(request: 2, .refused(reason: "no disk"))) {
      $0.requests?.outstanding = []
      $0.requests?.failures["recorder"] = "no disk"
    }
    await store.receive(
      .delegate(.requestEnded(request(2, .record(.stop)), .refused(reason: "no disk"))))
    // Events report what the recorder does.
    await store.send(.recordingRequested(.pause)) {
      $0.requests?.last = 3
      $0.requests?.outstanding = [request(3, .record(.pause))]
      $0.requests?.failures = ControlTable()
    }
    controller.answer(.confirmed)
    await store.receive(.answered(request: 3, .confirmed)) { $0.requests?.outstanding = [] }
    await store.receive(.delegate(.requestEnded(request(3, .record(.pause)), .confirmed)))
    // One request is never answered, and one request has no controller.
    await store.send(.recordingRequested(.resume)) {
      $0.requests?.last = 4
      $0.requests?.outstanding = [request(4, .record(.resume))]
    }
    clock.advance(by: .seconds(5))
    await store.receive(.answered(request: 4, .refused(reason: "no answer"))) {
      $0.requests?.outstanding = []
      $0.requests?.failures["recorder"] = "no answer"
    }
    await store.receive(
      .delegate(.requestEnded(request(4, .record(.resume)), .refused(reason: "no answer"))))
    await store.send(.surface(.ended(controller: 1))) { $0.requests?.controllers = [] }
    await store.send(.recordingRequested(.start))
    await store.finish()
  }

  @Test func `ending the stream is a request that is completed when the stream has ended`() async {
    let store = makeStore()
    await store.send(.endStreamRequested) {
      $0.requests?.last = 1
      $0.requests?.outstanding = [request(1, .endStream)]
    }
    controller.answer(.confirmed)
    var confirmed = request(1, .endStream)
    confirmed.isConfirmed = true
    await store.receive(.answered(request: 1, .confirmed)) { [confirmed] in
      $0.requests?.outstanding = [confirmed]
    }
    await store.send(.streamEnded) { $0.requests?.outstanding = [] }
    await store.receive(.delegate(.requestEnded(confirmed, .confirmed)))
    await store.finish()
  }

  @Test func `a confirmed request to end the stream fails if the stream does not end in time`()
    async
  {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.endStreamRequested)
    controller.answer(.confirmed)
    await store.receive(.answered(request: 1, .confirmed))
    clock.advance(by: .seconds(5))
    await store.receive(.answered(request: 1, .refused(reason: "no answer"))) {
      $0.requests?.outstanding = []
      $0.requests?.failures["endStream"] = "no answer"
    }
    await store.finish()
  }

  @Test func `changes that the controller reports are shown and never requested`() async {
    let store = makeStore()
    await store.send(.reported(control: "zoom", .value(0.9))) { $0.values["zoom"] = 0.9 }
    await store.send(.reported(control: "camera", .position(on: true))) {
      $0.switches["camera"] = true
    }
    await release(0.5, 1, store)
    // The real slider is still moving, so the request stays pending.
    await store.send(.reported(control: "zoom", .value(0.7))) { $0.values["zoom"] = 0.7 }
    await store.skipInFlightEffects()
    await store.finish()
  }

  // MARK: Choice of the controller

  @Test
  func `if several controllers accept a control, the last connected one receives its requests`() {
    var requests = Requests()
    requests.controllers = [
      .init(number: 1), .init(number: 2, controls: ["mic"]), .init(number: 3, controls: ["zoom"]),
    ]
    #expect(requests.controller(for: "mic")?.number == 2)
    #expect(requests.controller(for: "zoom")?.number == 3)
    #expect(requests.controller(for: "camera")?.number == 1)
    requests.controllers.removeFirst()
    #expect(requests.controller(for: "camera") == nil)
  }

  @Test func `a control that no controller accepts is committed immediately`() async {
    var requests = Requests()
    requests.controllers = [.init(number: 1, controls: ["mic"])]
    let store = makeStore(requests)
    await store.send(.tapped(control: "camera", on: true)) { $0.switches["camera"] = true }
    await store.finish()
  }

  @Test func `a room accepts a limited number of controllers`() async {
    let store = makeStore(nil)
    store.exhaustivity = .off
    for number in 1...Requests.maximumControllers + 1 {
      await store.send(.surface(.began(controller: number, controls: ["mic"])))
    }
    #expect(store.state.requests?.controllers.count == Requests.maximumControllers)
    let many = (1...Requests.maximumNames).map { "slider \($0)" }
    #expect(Requests().fits(many) && !Requests().fits(many + ["one too many"]))
    await store.finish()
  }
}

extension Requests {
  fileprivate init(controller: Int) {
    self.init()
    controllers = [ConnectedController(number: controller)]
  }
}

extension DragBookkeeping {
  /// Sets the expected state after a move of a slider.
  fileprivate mutating func expectMove(of control: String) {
    var state = ControlFeature.State()
    _ = ControlFeature().reduce(into: &state, action: .sliderMoved(control: control, value: 0))
    self = state.bookkeeping
  }
}
