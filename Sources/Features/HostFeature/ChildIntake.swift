import Intake
import LiveEvents
import RateLimiting

/// The intake of one child, with the memory that its output passes through.
///
/// The memory is kept, so that an event which is only held allocates nothing here.
struct ChildIntake<Child: Intake> {
  var intake = Child(ThrottlePolicies())
  /// What the intake holds. Kept, because each event asks for what all children hold, and the answers
  /// come from other modules.
  private(set) var held = HeldEvents(count: 0, deadline: nil)
  private var output = IntakeOutput<Child.Action>()
  private let embed: (Child.Action) -> HostFeature.Action

  init(_ embed: @escaping (Child.Action) -> HostFeature.Action) { self.embed = embed }

  mutating func receive(
    _ event: consuming Child.Event, timestamp: Timestamp, at now: Instant,
    into host: inout IntakeOutput<HostFeature.Action>
  ) {
    intake.receive(event, timestamp: timestamp, at: now, into: &output)
    handOver(to: &host)
  }

  mutating func perform(
    _ operation: IntakeOperation, into host: inout IntakeOutput<HostFeature.Action>
  ) {
    switch operation {
    case .apply(let policies): intake.apply(policies)
    case .note(let cost): return intake.note(cost: cost)
    // With each frame, and of nine children one or two hold something.
    case .wake where held.isNothing, .flush where held.isNothing: return
    case .wake(let now): intake.wake(at: now, into: &output)
    case .flush(let now): intake.flush(at: now, into: &output)
    }
    handOver(to: &host)
  }

  private mutating func handOver(to host: inout IntakeOutput<HostFeature.Action>) {
    if !output.actions.isEmpty {
      for action in output.actions { host.actions.append(embed(action)) }
    }
    host.applied += output.applied
    host.coalesced += output.coalesced
    if !output.rejected.isEmpty {
      for (reason, count) in output.rejected { host.reject(reason, count) }
    }
    output.clear()
    held = HeldEvents(count: intake.pending, deadline: intake.deadline)
  }
}

/// What the host has all of its children do alike; see ``Intake``.
enum IntakeOperation {
  case apply(ThrottlePolicies)
  case note(cost: Interval)
  case wake(at: Instant)
  case flush(at: Instant)
}

/// The events that throttles hold: neither applied nor coalesced yet.
struct HeldEvents {
  var count: Int
  /// When there is something to give at the latest; `nil` if nothing is held.
  var deadline: Instant?

  var isNothing: Bool { count == 0 && deadline == nil }
}
