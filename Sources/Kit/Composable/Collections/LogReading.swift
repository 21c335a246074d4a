extension Log {
  /// What a reader gets: the elements that came since it read last, and how many it missed.
  public struct Reading {
    /// How many elements were appended since and are gone.
    public let missed: UInt64
    /// The elements that are still there, oldest first.
    public let elements: Log.SubSequence
    /// What to pass to ``Log/suffix(since:)`` the next time.
    public let next: SequenceNumber

    @inlinable init(missed: UInt64, elements: Log.SubSequence, next: SequenceNumber) {
      self.missed = missed
      self.elements = elements
      self.next = next
    }
  }

  /// The elements from a sequence number on.
  ///
  /// A number that has not been reached yet yields nothing and says to come back with
  /// ``endSequence``: the reader came from another, longer log.
  ///
  /// - Complexity: O(1). The reading holds the storage: let it go before the log changes, or the
  ///   change copies.
  @inlinable public func suffix(since sequence: SequenceNumber) -> Reading {
    let start = startSequence
    let missed = sequence < start ? start - sequence : 0
    let first = sequence < end ? Int(Swift.max(sequence, start) - start) : count
    return Reading(missed: missed, elements: self[first...], next: end)
  }

  /// The element with a sequence number; nil if it is gone or has not come yet.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(sequence sequence: SequenceNumber) -> Element? {
    offset(of: sequence).map { ring[place($0)] }
  }

  /// The sequence number of the element at an index.
  @inlinable public func sequence(at index: Int) -> SequenceNumber {
    precondition(indices.contains(index), "index out of range")
    return startSequence + SequenceNumber(index)
  }

  /// The index of the element with a sequence number; nil if it is gone or has not come yet.
  @inlinable public func index(ofSequence sequence: SequenceNumber) -> Int? {
    offset(of: sequence)
  }
}

extension Log.Reading: Sendable where Element: Sendable {}

/// From the oldest element, at index 0, to the newest.
extension Log: RandomAccessCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { ring.count }

  @inlinable public subscript(index: Int) -> Element {
    _read {
      precondition(index >= 0 && index < ring.count, "index out of range")
      yield ring[place(index)]
    }
  }
}
