import DequeModule

/// A queue of elements with due times in milliseconds. One timer suffices for all of them.
///
/// Adding an element appends it to an array. Only the first element of a millisecond costs a sorted
/// insertion.
package struct DueTimes<Element> {
  /// The elements due in each millisecond, in the order in which they were added.
  private var slots: [Int64: Deque<Element>] = [:]
  /// The milliseconds in which an element is due, in descending order.
  private var order: [Int64] = []

  package init() {}

  /// The earliest millisecond in which an element is due; `nil` if there are no elements.
  package var first: Int64? { order.last }

  /// Returns the first millisecond that begins at or after a time, given in nanoseconds.
  package static func slot(of nanoseconds: Int64) -> Int64 {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest > 0 ? whole + 1 : whole
  }

  /// - Complexity: O(1), or O(number of later milliseconds) for the first element of a millisecond.
  package mutating func add(_ element: Element, at slot: Int64) {
    if slots[slot]?.append(element) != nil { return }
    slots[slot] = [element]
    let later = order.partitioningIndex { $0 < slot }
    order.insert(slot, at: later)
  }

  /// Removes and returns the first element due by `now`; `nil` if there is none.
  package mutating func popFirst(by now: Int64) -> (slot: Int64, element: Element)? {
    guard let slot = order.last, slot <= now, let element = slots[slot]?.popFirst() else {
      return nil
    }
    if slots[slot]?.isEmpty == true {
      slots[slot] = nil
      order.removeLast()
    }
    return (slot, element)
  }
}

extension [Int64] {
  /// Returns the index of the first element that meets a condition. All later elements must meet
  /// it, too.
  fileprivate func partitioningIndex(where condition: (Int64) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
