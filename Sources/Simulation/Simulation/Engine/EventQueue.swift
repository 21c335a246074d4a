/// What is to happen, in order of virtual time; of one time, in the order in which it was put in.
///
/// A binary heap in an array. Elements stay where they were put: only their keys move.
package struct EventQueue<Element> {
  private struct Key {
    var time: Int64
    var sequence: UInt64
    var slot: Int

    @inline(__always)
    static func < (left: Key, right: Key) -> Bool {
      left.time != right.time ? left.time < right.time : left.sequence < right.sequence
    }
  }

  private var keys: [Key] = []
  private var slots: [Element?] = []
  private var free: [Int] = []
  private var sequence: UInt64 = 0

  package init() {}

  package var count: Int { keys.count }

  /// When the next element is due; nil if there is none. O(1).
  package var nextTime: VirtualTime? { keys.first.map { VirtualTime(nanoseconds: $0.time) } }

  /// O(log count).
  package mutating func push(_ element: Element, at time: VirtualTime) {
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
  package mutating func pop() -> (time: VirtualTime, element: Element)? {
    guard let first = keys.first, let last = keys.popLast() else { return nil }
    if !keys.isEmpty { sink(last) }
    guard let element = slots[first.slot] else { return nil }
    slots[first.slot] = nil
    free.append(first.slot)
    return (VirtualTime(nanoseconds: first.time), element)
  }

  /// Puts `key` where the first one was.
  private mutating func sink(_ key: Key) {
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
