/// What a rate limiter asks its owner to do after one input.
///
/// The numbers count *inputs*, so that an owner who adds up all steps can account for each input:
/// it is contained in an output (`applied`), was overwritten by a newer one (`coalesced`), or is
/// still held (`pending` of the limiter).
public struct Step<Output> {
  /// Deliver this now; nil means that there is nothing to deliver.
  public var output: Output?
  /// How many inputs `output` contains.
  public var applied: Int
  /// How many inputs were superseded in this step and will never be delivered.
  public var coalesced: Int
  /// Call `wake(at:)` at this time or as soon as possible after it; nil means that no call is
  /// needed. This replaces what earlier steps asked for.
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

/// What all rate limiters have in common, so that an owner can wake and flush many of them.
///
/// How values enter differs by class and is therefore not part of the protocol. A limiter is a
/// value without a clock, a timer or a lock; its owner must not use it concurrently.
public protocol RateLimiter {
  /// What is delivered: one value, a batch or a summary.
  associatedtype Output

  /// How many inputs are held: neither delivered nor superseded yet.
  var pending: Int { get }

  /// When `wake(at:)` must be called; nil if it need not be.
  var deadline: Instant? { get }

  /// Delivers what is due at `now`. A call before the deadline changes nothing.
  mutating func wake(at now: Instant) -> Step<Output>

  /// Delivers everything pending, due or not. An owner calls this before applying an event that
  /// must not overtake what came before it, and before stopping.
  mutating func flush(at now: Instant) -> Step<Output>
}
