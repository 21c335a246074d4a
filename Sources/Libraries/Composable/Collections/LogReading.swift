extension Log {
  /// The result of a read: the elements appended since the last read, and how many were missed.
  public struct Reading {
    /// The number of elements that were appended and removed since the last read.
    public let missed: UInt64
    /// The elements that the log still contains, oldest first.
    public let elements: Log.SubSequence
    /// The sequence number to pass to ``Log/suffix(since:)`` for the next read.
    public let next: SequenceNumber

    @inlinable init(missed: UInt64, elements: Log.SubSequence, next: SequenceNumber) {
      self.missed = missed
      self.elements = elements
      self.next = next
    }
  }

  /// Returns the elements with this sequence number or a higher one.
  ///
  /// If the number is higher than ``endSequence``, the reader came from another, longer log. The
  /// reading is then empty, and its `next` is ``endSequence``.
  ///
  /// - Complexity: O(1). The reading shares the log's storage. Release the reading before the log
  ///   changes, or the change copies the storage.
  @inlinable public func suffix(since sequence: SequenceNumber) -> Reading {
    let start = startSequence
    let missed = sequence < start ? start - sequence : 0
    let first = sequence < end ? Int(Swift.max(sequence, start) - start) : count
    return Reading(missed: missed, elements: self[first...], next: end)
  }

  /// The element with a sequence number, or nil if it was removed or is not appended yet.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(sequence sequence: SequenceNumber) -> Element? {
    offset(of: sequence).map { ring[place($0)] }
  }

  /// Returns the sequence number of the element at an index.
  @inlinable public func sequence(at index: Int) -> SequenceNumber {
    precondition(indices.contains(index), "index out of range")
    return startSequence + SequenceNumber(index)
  }

  /// Returns the index of the element with a sequence number, or nil if it is not in the log.
  @inlinable public func index(ofSequence sequence: SequenceNumber) -> Int? {
    offset(of: sequence)
  }
}

extension Log.Reading: Sendable where Element: Sendable {}

/// Iterates from the oldest element, at index 0, to the newest.
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
