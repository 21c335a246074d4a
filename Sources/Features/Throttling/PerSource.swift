public import LiveEvents

/// A value for each source of a room, such as a throttle, so that an event of one source never
/// supersedes an event of another.
///
/// Most rooms have one source. Its value is stored inline, so that its events neither search nor
/// allocate. Public and inlinable for the same reason as ``ThrottleOutput``.
public struct PerSource<Value> {
  /// The maximum number of sources with a value. Untrusted senders choose the names of sources.
  @inlinable public static var limit: Int { SourceLimits.sources }

  /// The value of the first source, which exists before the source sends an event.
  @usableFromInline var first: Value
  @usableFromInline var firstOrigin: Origin?
  @usableFromInline var others: [(origin: Origin, value: Value)] = []

  @inlinable public init(_ first: Value) { self.first = first }

  /// Changes the value of a source, and returns the result of `change`. If no further source can
  /// have a value, returns `nil` without calling `change`.
  ///
  /// - Parameters:
  ///   - make: Makes the value of a source without one.
  ///   - isIdle: Returns whether the value can be dropped in favour of a new source.
  /// - Complexity: O(1) for the first source, O(``limit``) for others.
  @inlinable public mutating func withValue<Result>(
    of origin: Origin, make: () -> Value, isIdle: (Value) -> Bool,
    _ change: (inout Value) -> Result
  ) -> Result? {
    guard let firstOrigin else {
      firstOrigin = origin
      return change(&first)
    }
    if firstOrigin == origin { return change(&first) }
    if let index = others.firstIndex(where: { $0.origin == origin }) {
      return change(&others[index].value)
    }
    if others.count < Self.limit - 1 {
      others.append((origin, make()))
    } else if let index = others.firstIndex(where: { isIdle($0.value) }) {
      others.remove(at: index)
      others.append((origin, make()))
    } else {
      return nil
    }
    return change(&others[others.count - 1].value)
  }

  /// Changes the values of all sources, in the order in which the sources were first seen.
  @inlinable public mutating func forEach(_ change: (inout Value, Origin) -> Void) {
    change(&first, firstOrigin ?? Origin.none)
    for index in others.indices { change(&others[index].value, others[index].origin) }
  }

  /// Combines the values of all sources.
  @inlinable public func reduce<Result>(
    _ initial: Result, _ combine: (Result, Value) -> Result
  ) -> Result {
    var result = combine(initial, first)
    for other in others { result = combine(result, other.value) }
    return result
  }
}
