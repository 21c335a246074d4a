/// What a machine asks its owner to do after one input.
///
/// The numbers count *inputs*, so that an owner who adds every step to its ``ConservationCounters``
/// can account for each one: an input is carried by an output (`applied`), was overwritten by a
/// newer one (`coalesced`), or is still held (`pending` of the machine).
public struct Step<Output> {
  /// Deliver this now; nil means there is nothing to deliver.
  public var output: Output?
  /// How many inputs `output` carries.
  public var applied: Int
  /// How many inputs were superseded in this step and will never be delivered.
  public var coalesced: Int
  /// Call `wake(at:)` at this time or as soon after it as possible; nil means no call is needed.
  /// It replaces what earlier steps asked for.
  public var wake: Instant?

  /// Makes a step; `applied` counts the inputs in `output`.
  @inlinable public init(
    output: Output? = nil, applied: Int = 0, coalesced: Int = 0, wake: Instant? = nil
  ) {
    self.output = output
    self.applied = applied
    self.coalesced = coalesced
    self.wake = wake
  }
}

extension Step: Sendable where Output: Sendable {}
extension Step: Equatable where Output: Equatable {}

/// What all rate-limiting machines have in common, so that an owner can hold, wake and flush many.
///
/// How a value enters differs by class and is therefore not part of the protocol. A machine is a
/// value without a clock, a timer or a lock: whoever owns it calls it from one place at a time.
public protocol RateLimiter {
  /// What is delivered: one value, a batch or a summary.
  associatedtype Output

  /// Inputs that are held: neither delivered nor superseded yet.
  var pending: Int { get }

  /// When `wake(at:)` must be called; nil while nothing waits for time.
  var deadline: Instant? { get }

  /// Delivers what is due at `now`. A call before the deadline changes nothing.
  mutating func wake(at now: Instant) -> Step<Output>

  /// Delivers all that is pending, due or not. An owner calls it before it applies an event that
  /// must not overtake what came before it, and before it stops.
  mutating func flush(at now: Instant) -> Step<Output>
}
