import Intake
import LiveEvents
import RateLimiting

/// The intake of one child, with the room that its output passes through.
///
/// The room is kept, so that an event which is only held allocates nothing here.
struct ChildIntake<Child: Intake> {
  private var intake: Child
  private var output = IntakeOutput<Child.Action>()
  private let embed: (Child.Action) -> HostFeature.Action

  init(_ intake: Child, _ embed: @escaping (Child.Action) -> HostFeature.Action) {
    self.intake = intake
    self.embed = embed
  }

  var pending: Int { intake.pending }
  var deadline: Instant? { intake.deadline }

  mutating func apply(_ policies: ThrottlePolicies) { intake.apply(policies) }
  mutating func note(cost: Interval) { intake.note(cost: cost) }

  mutating func receive(
    _ event: LiveEvent, at now: Instant, into host: inout IntakeOutput<HostFeature.Action>
  ) {
    intake.receive(event, at: now, into: &output)
    handOver(to: &host)
  }

  mutating func wake(at now: Instant, into host: inout IntakeOutput<HostFeature.Action>) {
    intake.wake(at: now, into: &output)
    handOver(to: &host)
  }

  mutating func flush(at now: Instant, into host: inout IntakeOutput<HostFeature.Action>) {
    intake.flush(at: now, into: &output)
    handOver(to: &host)
  }

  private mutating func handOver(to host: inout IntakeOutput<HostFeature.Action>) {
    if !output.actions.isEmpty {
      for action in output.actions { host.actions.append(embed(action)) }
      output.actions.removeAll(keepingCapacity: true)
    }
    host.applied += output.applied
    host.coalesced += output.coalesced
    output.applied = 0
    output.coalesced = 0
    if !output.rejected.isEmpty {
      host.rejected.merge(output.rejected, uniquingKeysWith: +)
      output.rejected.removeAll(keepingCapacity: true)
    }
  }
}
