/// What is to happen, in order of virtual time; of one time, in the order in which it was put in.
///
/// A binary heap in an array. Elements stay where they were put: only their keys move.
public struct EventQueue<Element> {
  @usableFromInline
  struct Key {
    @usableFromInline var time: Int64
    @usableFromInline var sequence: UInt64
    @usableFromInline var slot: Int

    @inlinable
    init(time: Int64, sequence: UInt64, slot: Int) {
      self.time = time
      self.sequence = sequence
      self.slot = slot
    }

    @inlinable
    static func < (left: Key, right: Key) -> Bool {
      left.time != right.time ? left.time < right.time : left.sequence < right.sequence
    }
  }

  @usableFromInline var keys: [Key] = []
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var free: [Int] = []
  @usableFromInline var sequence: UInt64 = 0

  @inlinable public init() {}

  @inlinable public var count: Int { keys.count }

  /// When the next element is due; nil if there is none. O(1).
  @inlinable public var nextTime: VirtualTime? {
    keys.first.map { VirtualTime(nanoseconds: $0.time) }
  }

  /// O(log count).
  @inlinable
  public mutating func push(_ element: Element, at time: VirtualTime) {
    let slot: Int
    if let last = free.popLast() {
      slot = last
      slots[slot] = element
    } else {
      slot = slots.count
      slots.append(element)
    }
    sequence += 1
    let key = Key(time: time.nanoseconds, sequence: sequence, slot: slot)
    keys.append(key)
    var index = keys.count - 1
    keys.withUnsafeMutableBufferPointer { keys in
      while index > 0 {
        let parent = (index - 1) / 2
        guard key < keys[parent] else { break }
        keys[index] = keys[parent]
        index = parent
      }
      keys[index] = key
    }
  }

  /// Takes the next element; nil if there is none. O(log count).
  @inlinable
  public mutating func pop() -> (time: VirtualTime, element: Element)? {
    guard let first = keys.first, let last = keys.popLast() else { return nil }
    if !keys.isEmpty { sink(last) }
    guard let element = slots[first.slot] else { return nil }
    slots[first.slot] = nil
    free.append(first.slot)
    return (VirtualTime(nanoseconds: first.time), element)
  }

  /// Puts `key` where the first one was.
  @inlinable
  mutating func sink(_ key: Key) {
    keys.withUnsafeMutableBufferPointer { keys in
      var index = 0
      while true {
        var child = 2 * index + 1
        guard child < keys.count else { break }
        if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
        guard keys[child] < key else { break }
        keys[index] = keys[child]
        index = child
      }
      keys[index] = key
    }
  }
}
