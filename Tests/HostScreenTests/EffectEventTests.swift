import Composable
import ComposableTesting
import ControlFeature
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import Testing
import ViewGraph

/// Tests the results of effects on a screen.
@Suite struct EffectEventTests {
  private final class Token: Sendable {}

  private let clock = TestClock()

  /// Returns a screen whose panel sends requests to a controller that never answers.
  private func makeScreen(_ token: Token) -> HostScreen {
    let controller = Controller(patience: { .seconds(5) }) { [clock] _ in
      defer { withExtendedLifetime(token) {} }
      try await clock.sleep(until: .init(offset: .seconds(1_000)))
      return .confirmed
    }
    let dependencies = Dependencies.test(clock: clock).overriding(controller)
    let screen = HostScreen(
      lane: clock.lane, framesPerSecond: 60, clock: StillClock(), dependencies: dependencies)
    screen.send(.control(.surface(.began(controller: 1, controls: nil))))
    screen.send(.control(.set(control: "zoom", value: 0.5)))
    return screen
  }

  @Test func `the result of an effect is an event and changes nothing until it is applied`() {
    let screen = makeScreen(Token())
    var inputs: [EffectInput] = []
    screen.onEffectInput = { inputs.append($0) }
    clock.advance(by: .seconds(5))
    let timeOut = LiveEvent.Payload.control(
      .outcome(request: 1, .refused(reason: ControlRequest.noAnswer)))
    #expect(inputs == [.event(timeOut)])
    #expect(screen.store.state.control.requests?.outstanding.count == 1)
    let actions = screen.store.actionCount
    #expect(screen.perform(LiveEvent(timestamp: 0, payload: timeOut), at: .origin))
    #expect(screen.store.actionCount > actions)
    #expect(screen.store.state.control.requests?.outstanding.isEmpty == true)
    #expect(screen.store.state.control.requests?.failures["zoom"] == "no answer")
    #expect(screen.counts.received == 0, "it came by no line")
  }

  @Test func `applying the same events without effects gives the same state`() {
    let screen = makeScreen(Token())
    screen.onEffectInput = { [unowned screen] input in
      guard case .event(let event) = input else { return }
      _ = screen.perform(LiveEvent(timestamp: 0, payload: event), at: .origin)
    }
    clock.advance(by: .seconds(5))
    let repeated = HostScreen(lane: clock.lane, framesPerSecond: 60, clock: StillClock())
    repeated.startsEffects = false
    for event: ControlEvent in [
      .controller(.began(controller: 1, controls: nil)), .set(control: "zoom", value: 0.5),
      .outcome(request: 1, .refused(reason: ControlRequest.noAnswer)),
    ] {
      _ = repeated.perform(LiveEvent(timestamp: 0, payload: .control(event)), at: .origin)
    }
    #expect(repeated.store.state == screen.store.state)
    #expect(screen.store.startedEffects == 2)
    #expect(repeated.store.startedEffects == 0)
  }

  @Test func `the effects of a screen end when the screen is released`() {
    weak var token: Token?
    do {
      let held = Token()
      token = held
      let screen = makeScreen(held)
      clock.lane.run()
      #expect(screen.store.runningEffects == 2)
    }
    clock.lane.run()
    #expect(token == nil)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `if ending the stream fails, the same question is asked again, with the reason`() {
    let screen = makeScreen(Token())
    var inputs: [EffectInput] = []
    screen.onEffectInput = { inputs.append($0) }
    screen.send(.stream(.live, at: 0))
    screen.send(.control(.tapped(control: ControlFeature.endStream, on: nil)))
    #expect(screen.store.state.endConfirmation?.failure == nil)
    screen.send(.control(.tapped(control: ControlFeature.endStream, on: true)))
    #expect(screen.store.state.phase == .live && screen.store.state.endConfirmation == nil)
    #expect(screen.store.state.control.requests?.outstanding.last?.command == .endStream)
    screen.send(.control(.answered(request: 2, .refused(reason: "no answer"))))
    #expect(screen.store.state.endConfirmation?.failure == "no answer")
    screen.drawFrame(at: .origin + .seconds(1))
    let line = "\(screen.views.screen())"
    #expect(line.contains("The stream did not end: no answer."))
    // The source reports the end of the stream while it is requested.
    screen.send(.control(.tapped(control: ControlFeature.endStream, on: true)))
    screen.send(.control(.answered(request: 3, .confirmed)))
    #expect(screen.store.state.phase == .live)
    screen.send(.stream(.ended, at: 5))
    #expect(screen.store.state.control.requests?.outstanding.map(\.number) == [1])
    #expect(screen.store.state.endConfirmation == nil)
  }
}
