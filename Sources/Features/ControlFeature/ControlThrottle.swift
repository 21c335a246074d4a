package import LiveEvents
package import RateLimiting
package import Throttling

/// Throttles the events of the control panel.
///
/// | event | class |
/// | --- | --- |
/// | `slider` change | latest wins per control: at most one local update per frame |
/// | `slider` begin, end | never drop; an end supersedes the pending change of its control |
/// | `tap`, `host.set`, `host.record`, `host.act` | never drop |
/// | `control.surface`, `control.outcome` | never drop |
/// | `control.state` | latest wins per control |
/// | `meter` | latest wins per input |
package struct ControlThrottle: PartThrottle {
  package typealias Action = ControlFeature.Action

  private var controls: NameTable
  private var inputs: NameTable
  private var moves: Paced<KeyedLatestWins<Int, Double>>
  private var states: Paced<KeyedLatestWins<Int, ControlState>>
  private var levels: Paced<KeyedLatestWins<Int, [Float]>>

  /// The maximum number of controls, and of inputs. When this many names are known, events with
  /// other names are rejected, because names are untrusted.
  package static let nameCapacity = 256

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    let capacity = Self.nameCapacity
    controls = NameTable(capacity: capacity)
    inputs = NameTable(capacity: capacity)
    moves = Paced(
      KeyedLatestWins(interval: policies[.controls].interval, keyCapacity: capacity))
    states = Paced(
      KeyedLatestWins(interval: policies[.controls].interval, keyCapacity: capacity))
    levels = Paced(KeyedLatestWins(interval: policies[.meters].interval, keyCapacity: capacity))
    apply(policies)
  }

  /// Registers the names of a restored panel, which count towards ``nameCapacity``.
  package mutating func resume(_ state: ControlFeature.State) {
    for name in state.values.names + state.switches.names + state.dragging.names {
      _ = controls.number(of: Text(name))
    }
    // Failures also count; otherwise their number could grow with each restart.
    for name in state.requests?.failures.names ?? [] { _ = controls.number(of: Text(name)) }
    for name in state.meters.names { _ = inputs.number(of: Text(name)) }
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    moves.follow(policies[.controls].adaptive)
    states.follow(policies[.controls].adaptive)
    levels.follow(policies[.meters].adaptive)
  }

  package mutating func record(cost: Interval) {
    moves.record(cost: cost)
    states.record(cost: cost)
    levels.record(cost: cost)
  }

  package var pending: Int { pendingMoves + pendingLevels }
  package var pendingMoves: Int { moves.pending + states.pending }
  package var pendingLevels: Int { levels.pending }

  package var deadline: Instant? {
    .earlier(.earlier(moves.deadline, states.deadline), levels.deadline)
  }

  package mutating func receive(
    _ event: ControlEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    switch event {
    case .slider(let slider):
      receive(slider, at: now, into: &output)
    case .tap(let control, let on):
      guard let number = controls.number(of: control) else { return output.reject(.invalidValue) }
      flush(at: now, into: &output)
      output.apply(.tapped(control: controls[number], on: on))
    case .meter(let input, let values):
      guard let number = inputs.number(of: input) else { return output.reject(.invalidValue) }
      let step = levels.limiter.push(values, for: number, at: now)
      output.coalesce(step.coalesced)
      if let due = step.output { applyLevels(due, into: &output) }
    case .set(let control, let value):
      guard value >= 0, value <= 1, let number = controls.number(of: control) else {
        return output.reject(.invalidValue)
      }
      flush(at: now, into: &output)
      output.apply(.set(control: controls[number], value: value))
    case .state(let control, let state):
      guard let number = controls.number(of: control) else { return output.reject(.invalidValue) }
      let step = states.limiter.push(state, for: number, at: now)
      output.coalesce(step.coalesced)
      if let due = step.output { applyState(due, into: &output) }
    case .record(let wish):
      flush(at: now, into: &output)
      output.apply(.recordingRequested(wish))
    case .act(let act):
      flush(at: now, into: &output)
      output.apply(.actRequested(act))
    case .controller(let event):
      flush(at: now, into: &output)
      output.apply(.surface(event))
    case .outcome(let request, let outcome):
      flush(at: now, into: &output)
      output.apply(.answered(request: request, outcome))
    }
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    for due in moves.wake(at: now).output ?? [] { applyMove(due, into: &output) }
    for due in states.wake(at: now).output ?? [] { applyState(due, into: &output) }
    for due in levels.wake(at: now).output ?? [] { applyLevels(due, into: &output) }
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    for held in moves.flush(at: now).output ?? [] { applyMove(held, into: &output) }
    for held in states.flush(at: now).output ?? [] { applyState(held, into: &output) }
    for held in levels.flush(at: now).output ?? [] { applyLevels(held, into: &output) }
  }

  private mutating func receive(
    _ slider: Slider, at now: Instant, into output: inout ThrottleOutput<Action>
  ) {
    // NaN fails both comparisons, and is rejected.
    guard slider.value >= 0, slider.value <= 1, let number = controls.number(of: slider.control)
    else { return output.reject(.invalidValue) }
    switch slider.phase {
    case .begin:
      flush(at: now, into: &output)
      output.apply(.sliderBegan(control: controls[number], value: slider.value))
    case .change:
      let step = moves.limiter.push(slider.value, for: number, at: now)
      output.coalesce(step.coalesced)
      if let due = step.output { applyMove(due, into: &output) }
    case .end:
      output.coalesce(moves.limiter.supersede(number).coalesced)
      flush(at: now, into: &output)
      output.apply(.sliderReleased(control: controls[number], value: slider.value))
    }
  }

  private func applyMove(_ move: Keyed<Int, Double>, into output: inout ThrottleOutput<Action>) {
    output.apply(.sliderMoved(control: controls[move.key], value: move.value))
  }

  private func applyState(
    _ report: Keyed<Int, ControlState>, into output: inout ThrottleOutput<Action>
  ) {
    output.apply(.reported(control: controls[report.key], report.value))
  }

  private func applyLevels(
    _ reading: Keyed<Int, [Float]>, into output: inout ThrottleOutput<Action>
  ) {
    output.apply(.meterRead(input: inputs[reading.key], levels: reading.value))
  }
}
