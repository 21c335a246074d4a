/// Collects elements and delivers them in one batch per interval, without dropping any.
///
/// The interval starts with the first element of a batch. A full batch is delivered early, so
/// memory stays bounded and nothing is lost. Every element counts as applied.
///
/// - Complexity: a push is O(1) amortised; a batch costs one allocation.
public struct KeepAll<Element>: RateLimiter {
  @usableFromInline var elements: [Element]
  @usableFromInline var due: Instant
  @usableFromInline var lastCount: Int

  /// The time from the first element of a batch to its delivery. A new interval applies starting
  /// with the next batch.
  public var interval: Interval

  /// The size at which a batch is delivered early; above zero.
  public var capacity: Int

  /// Makes a limiter. `interval` and `capacity` must be above zero.
  @inlinable public init(interval: Interval, capacity: Int) {
    precondition(interval > .zero, "a window needs an interval above zero")
    precondition(capacity > 0, "a batch needs capacity for one element")
    elements = []
    due = .origin
    lastCount = 0
    self.interval = interval
    self.capacity = capacity
  }

  @inlinable public var pending: Int { elements.count }
  @inlinable public var deadline: Instant? { elements.isEmpty ? nil : due }

  /// Adds an element, and delivers the batch if the batch is then full or overdue.
  @inlinable public mutating func push(
    _ element: consuming Element, at now: Instant
  ) -> Step<[Element]> {
    if elements.isEmpty { open(at: now) }
    elements.append(element)
    guard elements.count >= capacity || due <= now else { return Step(wake: due) }
    return flush(at: now)
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<[Element]> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<[Element]> {
    guard !elements.isEmpty else { return Step() }
    var batch: [Element] = []
    swap(&batch, &elements)
    lastCount = batch.count
    return Step(output: batch, applied: batch.count)
  }

  @inlinable mutating func open(at now: Instant) {
    due = now + interval
    // Batches of one stream have similar sizes. Reserving the last size avoids repeated growth.
    if elements.capacity < lastCount { elements.reserveCapacity(lastCount) }
  }
}

extension KeepAll: Sendable where Element: Sendable {}
