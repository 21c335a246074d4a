extension Log {
  /// Appends an element, and removes the oldest element if the log is full.
  ///
  /// - Returns: The element's sequence number.
  /// - Complexity: O(1) amortised until the log is full, then O(1).
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

  /// Appends elements in order. Only the newest `capacity` elements are stored, but all get
  /// sequence numbers, so readers know how many they missed.
  ///
  /// - Complexity: O(n), where n is the number of elements.
  @inlinable public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Appends elements in order. Only the newest `capacity` elements are stored, but all get
  /// sequence numbers, so readers know how many they missed.
  ///
  /// - Complexity: O(min(n, capacity)), where n is the number of elements.
  @inlinable public mutating func append(contentsOf elements: some RandomAccessCollection<Element>)
  {
    let skipped = Swift.max(elements.count - capacity, 0)
    end += SequenceNumber(skipped)
    // The remaining elements fill the log, so they would have overwritten the skipped elements.
    for element in elements.dropFirst(skipped) { append(element) }
  }

  /// Removes all elements. Sequence numbers continue, so a reader learns how many elements were
  /// removed before it read them.
  ///
  /// - Complexity: O(n). The storage is kept.
  @inlinable public mutating func removeAll() {
    ring.removeAll(keepingCapacity: true)
    head = 0
  }

  /// Returns the log with another capacity. If the log has more elements than that, the newest are
  /// kept, with their sequence numbers.
  ///
  /// - Complexity: O(n).
  @inlinable public func resized(to capacity: Int) -> Log {
    var resized = Log(capacity: capacity)
    resized.end = end - SequenceNumber(Swift.min(count, capacity))
    for element in suffix(capacity) { resized.append(element) }
    return resized
  }

  /// Changes an element in place if the log still contains it.
  ///
  /// - Returns: The result of `body`, or nil if the log does not contain the element.
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func modify<Result, Failure: Error>(
    _ sequence: SequenceNumber, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let offset = offset(of: sequence) else { return nil }
    return try body(&ring[place(offset)])
  }
}
