/// A queue in order of virtual time. Elements with equal times keep the order in which they were
/// added.
///
/// Implemented as a heap in an array. Each parent has four children, so the heap is half as deep as
/// a binary heap.
public struct EventQueue<Element> {
  @usableFromInline
  struct Entry {
    @usableFromInline var time: Int64
    @usableFromInline var sequence: UInt64
    @usableFromInline var element: Element

    @inlinable
    init(time: Int64, sequence: UInt64, element: Element) {
      self.time = time
      self.sequence = sequence
      self.element = element
    }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var sequence: UInt64 = 0

  /// Creates an empty queue.
  @inlinable public init() {}

  /// The number of elements.
  @inlinable public var count: Int { entries.count }

  /// The time of the next element; `nil` if the queue is empty. O(1).
  @inlinable public var nextTime: VirtualTime? {
    entries.isEmpty ? nil : VirtualTime(nanoseconds: entries[0].time)
  }

  /// The next element; `nil` if the queue is empty. O(1).
  @inlinable public var first: Element? { entries.first?.element }

  /// Adds an element. O(log count).
  @inlinable
  public mutating func push(_ element: Element, at time: VirtualTime) {
    sequence += 1
    entries.append(Entry(time: time.nanoseconds, sequence: sequence, element: element))
    entries.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      var index = buffer.count - 1
      let (time, sequence) = (base[index].time, base[index].sequence)
      guard index > 0, Self.precedes(time, sequence, base + (index - 1) / 4) else { return }
      // Moves a hole up: moving elements instead of copying them avoids reference counting.
      let entry = (base + index).move()
      while index > 0 {
        let parent = (index - 1) / 4
        guard Self.precedes(time, sequence, base + parent) else { break }
        (base + index).moveInitialize(from: base + parent, count: 1)
        index = parent
      }
      (base + index).initialize(to: entry)
    }
  }

  /// Removes and returns the next element; `nil` if the queue is empty. O(log count).
  @inlinable
  public mutating func pop() -> (time: VirtualTime, element: Element)? {
    guard let last = entries.popLast() else { return nil }
    let first = entries.isEmpty ? last : replaceFirst(with: last)
    return (VirtualTime(nanoseconds: first.time), first.element)
  }

  /// Removes the first element and adds another. O(log count), and cheaper than two separate calls.
  @inlinable
  mutating func replaceFirst(_ element: Element, at time: VirtualTime) {
    sequence += 1
    _ = replaceFirst(
      with: Entry(time: time.nanoseconds, sequence: sequence, element: element))
  }

  /// Removes and returns the first entry, and inserts `entry` at its place in the heap.
  @inlinable
  mutating func replaceFirst(with entry: Entry) -> Entry {
    entries.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return entry }
      let first = base.move()
      var index = 0
      while true {
        var child = 4 * index + 1
        guard child < buffer.count else { break }
        for other in (child + 1)..<max(child + 1, min(child + 4, buffer.count))
        where Self.precedes(base[other].time, base[other].sequence, base + child) {
          child = other
        }
        guard Self.precedes(base[child].time, base[child].sequence, entry) else { break }
        (base + index).moveInitialize(from: base + child, count: 1)
        index = child
      }
      (base + index).initialize(to: entry)
      return first
    }
  }

  @inlinable
  static func precedes(
    _ time: Int64, _ sequence: UInt64, _ other: UnsafeMutablePointer<Entry>
  ) -> Bool {
    time != other.pointee.time ? time < other.pointee.time : sequence < other.pointee.sequence
  }

  @inlinable
  static func precedes(_ time: Int64, _ sequence: UInt64, _ other: Entry) -> Bool {
    time != other.time ? time < other.time : sequence < other.sequence
  }
}
