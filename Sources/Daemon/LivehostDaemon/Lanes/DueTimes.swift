import DequeModule

/// Things that are due at some time, by the millisecond: one timer is enough for all of them.
///
/// An entry costs an addition to an array, whatever the number of the others; only the first of
/// each millisecond has to be put in order.
package struct DueTimes<Element> {
  /// What is due in each millisecond, in the order in which it was added.
  private var slots: [Int64: Deque<Element>] = [:]
  /// The milliseconds that have something, the earliest last.
  private var order: [Int64] = []

  package init() {}

  /// The earliest millisecond; `nil` if there is nothing.
  package var first: Int64? { order.last }

  /// The millisecond in which a time in nanoseconds is over.
  package static func slot(of nanoseconds: Int64) -> Int64 {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest > 0 ? whole + 1 : whole
  }

  /// - Complexity: O(1), or O(number of later milliseconds) for the first of its millisecond.
  package mutating func add(_ element: Element, at slot: Int64) {
    if slots[slot]?.append(element) != nil { return }
    slots[slot] = [element]
    let later = order.partitioningIndex { $0 < slot }
    order.insert(slot, at: later)
  }

  /// Takes out the next that is due by then; `nil` if nothing is.
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
  /// The index of the first element for which the condition holds; it holds for all behind that.
  fileprivate func partitioningIndex(where condition: (Int64) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
