import ControlFeature
import LiveEvents
import RateLimiting
import Testing
import Throttling

@Suite struct ControlThrottleTests {
  private typealias Action = ControlFeature.Action

  @Test func `a drag with 500 changes causes one commit and at most one update per frame`() {
    let frame = Interval.nanoseconds(16_666_667)
    var throttle = ControlThrottle(policies(every: frame))
    var output = ThrottleOutput<Action>()
    var lastUpdate: Instant?
    var updates = 0
    var commits: [Action] = []
    var now = Instant.origin

    func moveOutput() {
      for action in output.actions {
        switch action {
        case .sliderMoved:
          if let lastUpdate { #expect(now - lastUpdate >= frame) }
          lastUpdate = now
          updates += 1
        case .sliderReleased: commits.append(action)
        case .sliderBegan: continue
        default: Issue.record("unexpected \(action)")
        }
      }
      output.actions = []
    }

    throttle.receive(slider("mic", .begin, 0), timestamp: 0, at: now, into: &output)
    moveOutput()
    for step in 1...500 {
      // The changes take 4 s, and frames are drawn when they are due.
      let next = Instant(nanoseconds: Int64(step) * 8_000_000)
      if let deadline = throttle.deadline, deadline <= next {
        now = deadline
        throttle.wake(at: now, into: &output)
        moveOutput()
      }
      now = next
      throttle.receive(
        slider("mic", .change, Double(step) / 1_000), timestamp: 0, at: now, into: &output)
      moveOutput()
      #expect(output.applied + output.coalesced + throttle.pending == step + 1)
    }
    throttle.receive(slider("mic", .end, 0.512), timestamp: 0, at: now, into: &output)
    moveOutput()
    #expect(commits == [.sliderReleased(control: "mic", value: 0.512)])
    #expect(updates <= 241)
    #expect(updates >= 200)
    #expect(output.applied == updates + 2)
    #expect(output.applied + output.coalesced == 502)
    #expect(throttle.pending == 0)
    #expect(throttle.deadline == nil)
  }

  @Test func `the latest reported state of a control is applied once per frame`() {
    var throttle = ControlThrottle(policies(every: .nanoseconds(16_666_667)))
    var output = ThrottleOutput<Action>()
    for step in 0..<10 {
      throttle.receive(
        .state(control: "zoom", .value(Double(step) / 10)), timestamp: 0, at: .origin, into: &output
      )
    }
    #expect(output.actions == [.reported(control: "zoom", .value(0))])
    #expect(throttle.pending == 1 && throttle.pendingMoves == 1)
    throttle.receive(
      .state(control: "lamp", .position(on: true)), timestamp: 0, at: .origin, into: &output)
    // A host action is applied after earlier reports.
    throttle.receive(.tap(control: "lamp", on: nil), timestamp: 0, at: .origin, into: &output)
    #expect(
      output.actions == [
        .reported(control: "zoom", .value(0)), .reported(control: "lamp", .position(on: true)),
        .reported(control: "zoom", .value(0.9)), .tapped(control: "lamp", on: nil),
      ])
    #expect(output.applied == 4 && output.coalesced == 8)
    #expect(throttle.deadline == nil)
  }

  @Test
  func `the end of a drag replaces its pending change and delivers changes of other controls`() {
    var throttle = ControlThrottle()
    var output = ThrottleOutput<Action>()
    for control in ["mic", "game"] {
      throttle.receive(slider(control, .change, 0.1), timestamp: 0, at: .origin, into: &output)
      throttle.receive(slider(control, .change, 0.2), timestamp: 0, at: .origin, into: &output)
    }
    output.actions = []
    #expect(throttle.pending == 2)
    throttle.receive(slider("mic", .end, 0.3), timestamp: 0, at: .origin, into: &output)
    #expect(
      output.actions == [
        .sliderMoved(control: "game", value: 0.2), .sliderReleased(control: "mic", value: 0.3),
      ])
    #expect(output.coalesced == 1)
    #expect(output.applied == 4)
    #expect(throttle.pending == 0)
  }

  @Test
  func `the last value of a slider is delivered with the frame even if no other value follows`() {
    var throttle = ControlThrottle(policies(every: .milliseconds(16)))
    var output = ThrottleOutput<Action>()
    for step in 1...3 {
      throttle.receive(
        slider("mic", .change, Double(step) / 10), timestamp: 0, at: .origin, into: &output)
      throttle.receive(meter("mic", [Float(step)]), timestamp: 0, at: .origin, into: &output)
    }
    output.actions = []
    let due = Instant.origin + .milliseconds(16)
    #expect(throttle.deadline == due)
    throttle.wake(at: due, into: &output)
    #expect(
      output.actions == [
        .sliderMoved(control: "mic", value: 0.3), .meterRead(input: "mic", levels: [3]),
      ])
    #expect(throttle.deadline == nil)
  }

  @Test func `taps on switches are never dropped and never overtake earlier events`() {
    var throttle = ControlThrottle()
    var output = ThrottleOutput<Action>()
    throttle.receive(slider("mic", .change, 0.1), timestamp: 0, at: .origin, into: &output)
    throttle.receive(slider("mic", .change, 0.2), timestamp: 0, at: .origin, into: &output)
    for _ in 0..<3 {
      throttle.receive(tap("camera", nil), timestamp: 0, at: .origin, into: &output)
    }
    throttle.receive(tap("camera", true), timestamp: 0, at: .origin, into: &output)
    let tapped = Action.tapped(control: "camera", on: nil)
    #expect(
      output.actions == [
        .sliderMoved(control: "mic", value: 0.1), .sliderMoved(control: "mic", value: 0.2),
        tapped, tapped, tapped, .tapped(control: "camera", on: true),
      ])
  }

  @Test(arguments: [-0.001, 1.001, .infinity, .nan])
  func `a slider value outside the range is rejected`(value: Double) {
    var throttle = ControlThrottle()
    var output = ThrottleOutput<Action>()
    throttle.receive(slider("mic", .change, value), timestamp: 0, at: .origin, into: &output)
    #expect(output.rejected == [.invalidValue: 1])
    #expect(output.actions.isEmpty)
  }

  @Test func `names of controls beyond the capacity are rejected, and known names still work`() {
    var throttle = ControlThrottle()
    var output = ThrottleOutput<Action>()
    let capacity = ControlThrottle.nameCapacity
    for control in Array(0...capacity) + [0] {
      throttle.receive(tap("control \(control)", true), timestamp: 0, at: .origin, into: &output)
    }
    for input in 0...capacity {
      throttle.receive(meter("input \(input)", [0]), timestamp: 0, at: .origin, into: &output)
    }
    #expect(output.applied == 2 * capacity + 1)
    #expect(output.rejected == [.invalidValue: 2])
  }
}

private func slider(_ control: String, _ phase: Slider.Phase, _ value: Double) -> ControlEvent {
  .slider(Slider(control: Text(control), phase: phase, value: value))
}

private func tap(_ control: String, _ on: Bool?) -> ControlEvent {
  .tap(control: Text(control), on: on)
}

private func meter(_ input: String, _ levels: [Float]) -> ControlEvent {
  .meter(input: Text(input), levels: levels)
}

private func policies(every interval: Interval) -> ThrottlePolicies {
  ThrottlePolicies([.controls: .init(interval: interval), .meters: .init(interval: interval)])
}
