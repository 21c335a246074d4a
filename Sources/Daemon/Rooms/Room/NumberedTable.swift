/// Values with numbers; the number of a removed value is reused.
///
/// Implemented as an array, because a hash table takes up to three times the memory of its
/// contents, and accesses all of it.
struct NumberedTable<Value> {
  private var values: [Value?] = []
  private var free: [Int] = []

  mutating func add(_ value: Value) -> Int {
    guard let number = free.popLast() else {
      values.append(value)
      return values.count - 1
    }
    values[number] = value
    return number
  }

  /// Removes the value with a number; there must be one.
  mutating func remove(_ number: Int) {
    values[number] = nil
    free.append(number)
  }

  subscript(number: Int) -> Value? {
    get { values[number] }
    _modify { yield &values[number] }
  }

  /// All values, in any order.
  var all: some Sequence<Value> { values.lazy.compactMap(\.self) }
}
