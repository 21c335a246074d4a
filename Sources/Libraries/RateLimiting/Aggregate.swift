/// Adds up amounts per key and delivers the sums once per interval; the sums are exact.
///
/// The interval starts with the first amount after a delivery. Sums are integers, delivered in the
/// order in which their keys first appeared. If a sum would overflow, or a new key would exceed the
/// capacity, the sums gathered so far are delivered early, so nothing is lost and memory stays
/// bounded. Every input counts as applied.
///
/// - Complexity: a push is O(1) and allocates nothing once the keys are known; a delivery costs one
///   allocation.
public struct Aggregate<Key: Hashable>: RateLimiter {
  /// The sum of one key.
  public struct Sum {
    /// The key.
    public var key: Key
    /// The sum of the amounts.
    public var amount: Int64
    /// The number of inputs in the sum.
    public var inputs: Int

    @inlinable public init(key: Key, amount: Int64, inputs: Int) {
      self.key = key
      self.amount = amount
      self.inputs = inputs
    }

    /// Adds an amount unless the sum would overflow. Returns whether the amount was added.
    @inlinable mutating func add(_ other: Int64) -> Bool {
      let (sum, overflow) = amount.addingReportingOverflow(other)
      guard !overflow else { return false }
      amount = sum
      inputs += 1
      return true
    }
  }

  @usableFromInline var index = KeyIndex<Key>()
  /// The sums, at the positions of their keys.
  @usableFromInline var sums: [Sum] = []
  /// The position of the last amount's key, because consecutive amounts often have the same key.
  @usableFromInline var recent = 0
  @usableFromInline var due: Instant = .origin
  @usableFromInline var held = 0

  /// The time from the first amount to the delivery of the sums. A new interval applies starting
  /// with the next window.
  public var interval: Interval

  /// The maximum number of keys. A push of one more key delivers the sums early.
  public let keyCapacity: Int

  /// Makes a limiter. `interval` and `keyCapacity` must be above zero.
  @inlinable public init(interval: Interval, keyCapacity: Int = 4_096) {
    precondition(interval > .zero, "a window needs an interval above zero")
    precondition(keyCapacity > 0, "an aggregate needs capacity for one key")
    self.interval = interval
    self.keyCapacity = keyCapacity
  }

  @inlinable public var pending: Int { held }
  @inlinable public var deadline: Instant? { held == 0 ? nil : due }

  /// Adds an amount to a key's sum. If the sums are overdue, delivers all sums, including the
  /// amount. If the amount does not fit, delivers all sums before adding it.
  @inlinable public mutating func push(
    _ amount: Int64, for key: Key, at now: Instant
  ) -> Step<[Sum]> {
    let known = recent < sums.count && sums[recent].key == key
    if let position = known ? recent : index.position(of: key) {
      recent = position
      guard sums[position].add(amount) else { return pushAfterFlush(amount, for: key, at: now) }
    } else {
      guard index.count < keyCapacity else { return pushAfterFlush(amount, for: key, at: now) }
      recent = sums.count
      index.append(key)
      sums.append(Sum(key: key, amount: amount, inputs: 1))
    }
    if held == 0 { due = now + interval }
    held += 1
    guard due <= now else { return Step(wake: due) }
    return flush(at: now)
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<[Sum]> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<[Sum]> {
    guard held > 0 else { return Step() }
    let step = Step(output: sums, applied: held)
    sums = []
    sums.reserveCapacity(index.count)
    index.removeAll()
    held = 0
    return step
  }

  @inlinable mutating func pushAfterFlush(
    _ amount: Int64, for key: Key, at now: Instant
  ) -> Step<[Sum]> {
    var step = flush(at: now)
    step.wake = push(amount, for: key, at: now).wake
    return step
  }
}

extension Aggregate: Sendable where Key: Sendable {}
extension Aggregate.Sum: Sendable where Key: Sendable {}
extension Aggregate.Sum: Hashable {}
