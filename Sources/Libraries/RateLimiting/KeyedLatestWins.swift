/// ``LatestWins`` for each key separately: a busy key does not delay the first value of another
/// key.
///
/// Keys that are due together are delivered as one batch. The batch has the order in which the keys
/// were first seen, never hash order. If there are more than 16 keys, keys that are at rest and
/// hold nothing may be removed. The removal has two visible effects: a key that returns is last in
/// the order, and if time goes backwards, the key's next value is delivered earlier than without
/// the removal.
///
/// - Complexity: A push is O(1) and does not allocate once the keys are known; `wake(at:)` and
///   `supersede(_:)` are O(n) in the number of keys.
public struct KeyedLatestWins<Key: Hashable, Value>: RateLimiter {
  public typealias Output = [Keyed<Key, Value>]

  @usableFromInline var index = KeyIndex<Key>()
  @usableFromInline var windows: ContiguousArray<LatestWins<Value>> = []
  /// The number of keys at which keys at rest are removed; doubled if few were removed, so that the
  /// sweep is amortised O(1).
  @usableFromInline var sweepCount = 16

  @usableFromInline var held = 0
  @usableFromInline var earliest: Instant?

  /// The number of held inputs, at most one per key.
  @inlinable public var pending: Int { held }
  /// The earliest deadline of all keys.
  @inlinable public var deadline: Instant? { earliest }

  /// The shortest time between two deliveries of one key. A new interval applies to each key
  /// starting with its next window.
  public var interval: Interval

  /// The maximum number of keys that are thinned. Values of further keys are delivered immediately:
  /// nothing is lost and memory stays bounded, but these values are not thinned. If untrusted
  /// clients can choose keys, the owner has to limit the number of keys.
  public let keyCapacity: Int

  /// Makes a limiter. `interval` and `keyCapacity` must be above zero.
  @inlinable public init(interval: Interval, keyCapacity: Int = 4_096) {
    precondition(interval > .zero, "a window needs an interval above zero")
    precondition(keyCapacity > 0, "a keyed limiter needs capacity for one key")
    self.interval = interval
    self.keyCapacity = keyCapacity
  }

  /// Delivers a value of a key, or holds it instead of the key's previously held value.
  @inlinable public mutating func push(
    _ value: Value, for key: Key, at now: Instant
  ) -> Step<Keyed<Key, Value>> {
    guard let position = index.position(of: key) ?? insert(key, at: now) else {
      return Step(output: Keyed(key: key, value: value), applied: 1, wake: deadline)
    }
    let before = windows[position].deadline
    windows[position].interval = interval
    let step = windows[position].push(value, at: now)
    held += 1 - step.applied - step.coalesced
    if let wake = step.wake {
      if deadline.map({ wake < $0 }) ?? true { earliest = wake }
    } else if before != nil, before == deadline {
      earliest = earliestDeadline()
    }
    return Step(
      output: step.output.map { Keyed(key: key, value: $0) }, applied: step.applied,
      coalesced: step.coalesced, wake: deadline)
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Output> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return collect { window in window.wake(at: now) }
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Output> {
    guard pending > 0 else { return Step() }
    return collect { window in window.flush(at: now) }
  }

  /// Delivers the held value of one key, due or not.
  @inlinable public mutating func flush(
    _ key: Key, at now: Instant
  ) -> Step<Keyed<Key, Value>> {
    guard let position = index.position(of: key) else { return Step(wake: deadline) }
    let step = windows[position].flush(at: now)
    held -= step.applied
    earliest = earliestDeadline()
    return Step(
      output: step.output.map { Keyed(key: key, value: $0) }, applied: step.applied, wake: deadline)
  }

  /// Drops the held value of one key, because the caller delivers a newer value directly. The
  /// dropped value counts as coalesced.
  @inlinable public mutating func supersede(_ key: Key) -> Step<Keyed<Key, Value>> {
    guard let position = index.position(of: key) else { return Step(wake: deadline) }
    let step = windows[position].supersede()
    held -= step.coalesced
    earliest = earliestDeadline()
    return Step(coalesced: step.coalesced, wake: deadline)
  }
}

extension KeyedLatestWins {
  /// Collects the values that `step` delivers for each key, in key order.
  @inlinable mutating func collect(
    _ step: (inout LatestWins<Value>) -> Step<Value>
  ) -> Step<Output> {
    var batch: Output = []
    batch.reserveCapacity(pending)
    for position in windows.indices {
      if let value = step(&windows[position]).output {
        batch.append(Keyed(key: index.keys[position], value: value))
      }
    }
    held -= batch.count
    earliest = earliestDeadline()
    return Step(output: batch, applied: batch.count, wake: deadline)
  }

  @inlinable func earliestDeadline() -> Instant? {
    guard pending > 0 else { return nil }
    var earliest: Instant?
    for window in windows {
      guard let deadline = window.deadline else { continue }
      if earliest.map({ deadline < $0 }) ?? true { earliest = deadline }
    }
    return earliest
  }

  /// Inserts a key. Returns the key's position, or nil if the capacity is exhausted.
  @inlinable mutating func insert(_ key: Key, at now: Instant) -> Int? {
    if index.count >= min(sweepCount, keyCapacity) { forgetKeysAtRest(at: now) }
    guard index.count < keyCapacity else { return nil }
    index.append(key)
    windows.append(LatestWins(interval: interval))
    return windows.count - 1
  }

  /// Removes keys whose next value would be delivered immediately in any case.
  @inlinable mutating func forgetKeysAtRest(at now: Instant) {
    var remainingKeys = KeyIndex<Key>()
    var remainingWindows: ContiguousArray<LatestWins<Value>> = []
    for (position, window) in windows.enumerated() where !window.isAtRest(at: now) {
      remainingKeys.append(index.keys[position])
      remainingWindows.append(window)
    }
    index = remainingKeys
    windows = remainingWindows
    sweepCount = max(16, 2 * windows.count)
  }
}

extension LatestWins {
  /// Whether replacing the limiter with a new one would make no difference.
  @inlinable func isAtRest(at now: Instant) -> Bool {
    switch state {
    case .idle: true
    case .resting(let until): until <= now
    case .holding: false
    }
  }
}

extension KeyedLatestWins: Sendable where Key: Sendable, Value: Sendable {}

/// A value and the key that it belongs to.
public struct Keyed<Key, Value> {
  /// The key.
  public var key: Key
  /// The value.
  public var value: Value

  /// Makes a pair of a key and a value.
  @inlinable public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }
}

extension Keyed: Sendable where Key: Sendable, Value: Sendable {}
extension Keyed: Equatable where Key: Equatable, Value: Equatable {}
extension Keyed: Hashable where Key: Hashable, Value: Hashable {}
