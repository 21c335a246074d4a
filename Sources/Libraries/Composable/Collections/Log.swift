/// A bounded history of the newest elements, each with a sequence number that is never reused.
///
/// Appending to a full log removes the oldest element. A reader keeps the ``endSequence`` of its
/// last read and passes it to ``suffix(since:)``, which returns the elements appended since and how
/// many of them were already removed. As a collection, the log is ordered from the oldest to the
/// newest element.
///
/// The capacity and the sequence numbers are part of the value: logs that differ only in the
/// capacity or the numbers are not equal.
///
/// - Complexity: Appending and access are O(1). Once a log is full, it never allocates again. A log
///   with unshared storage is changed in place; shared storage is copied once, like an array's.
public struct Log<Element> {
  /// A sequence number. Elements are numbered from 0 in the order of appending.
  public typealias SequenceNumber = UInt64

  /// The elements as a ring. The oldest element is at `head`, which stays 0 until the ring is full.
  @usableFromInline var ring: ContiguousArray<Element>
  @usableFromInline var head: Int
  @usableFromInline var end: SequenceNumber

  /// The maximum number of elements. Greater than zero.
  public let capacity: Int

  /// Makes an empty log for at most `capacity` elements. `capacity` must be greater than zero.
  @inlinable public init(capacity: Int) {
    precondition(capacity > 0, "the capacity of a log must be greater than zero")
    ring = []
    head = 0
    end = 0
    self.capacity = capacity
  }

  /// Makes a log and appends all of `elements`. Only the newest `capacity` elements are kept.
  @inlinable public init(capacity: Int, _ elements: some Sequence<Element>) {
    self.init(capacity: capacity)
    append(contentsOf: elements)
  }

  /// The sequence number of the next element, which equals the number of elements ever appended.
  @inlinable public var endSequence: SequenceNumber { end }

  /// The sequence number of the oldest element, or ``endSequence`` if the log is empty.
  @inlinable public var startSequence: SequenceNumber { end - SequenceNumber(ring.count) }

  /// Whether the next append will remove the oldest element.
  @inlinable public var isFull: Bool { ring.count == capacity }

  /// Returns the position in the ring for an offset from the oldest element.
  @inlinable func place(_ offset: Int) -> Int {
    let place = head + offset
    return place < ring.count ? place : place - ring.count
  }

  /// Returns the offset of an element, or nil if the log does not contain it.
  @inlinable func offset(of sequence: SequenceNumber) -> Int? {
    guard sequence >= startSequence, sequence < end else { return nil }
    return Int(sequence - startSequence)
  }
}

extension Log: Sendable where Element: Sendable {}
