extension Log {
  /// Appends an element; a full log lets its oldest go.
  ///
  /// - Returns: the element's sequence number.
  /// - Complexity: O(1) amortised, O(1) once full.
  @inlinable @discardableResult
  public mutating func append(_ element: Element) -> SequenceNumber {
    if ring.count < capacity {
      ring.append(element)
    } else {
      ring[head] = element
      head = head + 1 == capacity ? 0 : head + 1
    }
    end += 1
    return end - 1
  }

  /// Appends elements in order. Of more than the capacity only the newest are stored, but all get
  /// sequence numbers, so readers learn what they missed.
  ///
  /// - Complexity: O(n), where n is the number of elements.
  @inlinable public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Appends elements in order. Of more than the capacity only the newest are stored, but all get
  /// sequence numbers, so readers learn what they missed.
  ///
  /// - Complexity: O(min(n, capacity)), where n is the number of elements.
  @inlinable public mutating func append(contentsOf elements: some RandomAccessCollection<Element>)
  {
    let skipped = Swift.max(elements.count - capacity, 0)
    end += SequenceNumber(skipped)
    // What is skipped pushed out as many of the old ones; the rest overwrites the others, since it
    // then fills the log.
    for element in elements.dropFirst(skipped) { append(element) }
  }

  /// Removes all elements. Sequence numbers go on, so a reader misses what it had not read.
  ///
  /// - Complexity: O(n); the storage is kept.
  @inlinable public mutating func removeAll() {
    ring.removeAll(keepingCapacity: true)
    head = 0
  }

  /// The same log with another capacity; of more than fit the newest remain, with their numbers.
  ///
  /// - Complexity: O(n).
  @inlinable public func resized(to capacity: Int) -> Log {
    var resized = Log(capacity: capacity)
    resized.end = end - SequenceNumber(Swift.min(count, capacity))
    for element in suffix(capacity) { resized.append(element) }
    return resized
  }

  /// Changes an element in place, if it is still there.
  ///
  /// - Returns: what `body` returned; nil if the log has no such element (any more).
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func modify<Result, Failure: Error>(
    _ sequence: SequenceNumber, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let offset = offset(of: sequence) else { return nil }
    return try body(&ring[place(offset)])
  }
}
