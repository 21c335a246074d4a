/// A bounded history: the newest elements, each with a sequence number that is never used again.
///
/// Appending to a full log lets the oldest element go. A reader remembers the ``endSequence`` it has
/// read up to and asks for ``suffix(since:)``; it gets what came since and is told how much of that
/// was gone before it could be read. As a collection the log runs from the oldest to the newest
/// element.
///
/// The capacity and the sequence numbers are part of the value: logs are equal if a reader could not
/// tell them apart.
///
/// - Complexity: appending and access are O(1); once the log has been full it allocates nothing. A
///   log that is not shared is changed in place; a shared one is copied once, like an array.
public struct Log<Element> {
  /// Numbers elements from 0 in the order in which they were appended.
  public typealias SequenceNumber = UInt64

  /// The elements as a ring: the oldest is at `head`, which is 0 until the ring is full.
  @usableFromInline var ring: ContiguousArray<Element>
  @usableFromInline var head: Int
  @usableFromInline var end: SequenceNumber

  /// The largest number of elements; above zero.
  public let capacity: Int

  /// Makes an empty log.
  ///
  /// - Parameter capacity: the largest number of elements; above zero.
  @inlinable public init(capacity: Int) {
    precondition(capacity > 0, "a log needs room for one element")
    ring = []
    head = 0
    end = 0
    self.capacity = capacity
  }

  /// Makes a log to which all of `elements` were appended; only the newest that fit remain.
  @inlinable public init(capacity: Int, _ elements: some Sequence<Element>) {
    self.init(capacity: capacity)
    append(contentsOf: elements)
  }

  /// The sequence number that the next element will get; the number of elements ever appended.
  @inlinable public var endSequence: SequenceNumber { end }

  /// The sequence number of the oldest element; ``endSequence`` if the log is empty.
  @inlinable public var startSequence: SequenceNumber { end - SequenceNumber(ring.count) }

  /// Whether the next element will push out the oldest.
  @inlinable public var isFull: Bool { ring.count == capacity }

  /// The place in the ring of the element at an offset from the oldest.
  @inlinable func place(_ offset: Int) -> Int {
    let place = head + offset
    return place < ring.count ? place : place - ring.count
  }

  /// The offset of an element that is still there.
  @inlinable func offset(of sequence: SequenceNumber) -> Int? {
    guard sequence >= startSequence, sequence < end else { return nil }
    return Int(sequence - startSequence)
  }
}

extension Log: Sendable where Element: Sendable {}
