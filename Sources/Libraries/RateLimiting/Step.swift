/// The result of one input to a rate limiter: instructions for its owner.
///
/// The numbers count *inputs*. By adding up all steps, an owner can account for each input: it is
/// contained in an output (`applied`), was overwritten by a newer one (`coalesced`), or is still
/// held (`pending` of the limiter).
public struct Step<Output> {
  /// The value to deliver now, or nil if there is nothing to deliver.
  public var output: Output?
  /// The number of inputs that `output` contains.
  public var applied: Int
  /// The number of inputs that were superseded in this step and will never be delivered.
  public var coalesced: Int
  /// The time at which to call `wake(at:)`, or as soon as possible afterwards. Nil means that no
  /// call is needed. Replaces the time of earlier steps.
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

/// The common interface of all rate limiters, so that an owner can wake and flush many of them.
///
/// The methods for adding values differ between classes and are therefore not part of the protocol.
/// A limiter is a value without a clock, a timer or a lock, which its owner must not use
/// concurrently.
public protocol RateLimiter {
  /// The type of a delivery: one value, a batch or a summary.
  associatedtype Output

  /// The number of held inputs, which are neither delivered nor superseded yet.
  var pending: Int { get }

  /// The time at which `wake(at:)` must be called, or nil if no call is needed.
  var deadline: Instant? { get }

  /// Delivers the inputs that are due at `now`. A call before the deadline has no effect.
  mutating func wake(at now: Instant) -> Step<Output>

  /// Delivers all held inputs, due or not. An owner calls this before it stops, and before it
  /// applies an event that must not overtake earlier inputs.
  mutating func flush(at now: Instant) -> Step<Output>
}
