/// Values with numbers, which are used again once their values are removed.
///
/// An array: where a hash table takes half as much again as it holds, and touches all of it, this takes what it holds.
struct NumberedTable<Value> {
  private var values: [Value?] = []
  private var free: [Int] = []

  /// Adds a value. Returns its number.
  mutating func add(_ value: Value) -> Int {
    guard let number = free.popLast() else {
      values.append(value)
      return values.count - 1
    }
    values[number] = value
    return number
  }

  /// Removes the value with a number, which must have one.
  mutating func remove(_ number: Int) {
    values[number] = nil
    free.append(number)
  }

  /// The value with a number; `nil` if there is none.
  subscript(number: Int) -> Value? {
    get { values[number] }
    _modify { yield &values[number] }
  }

  /// All of them, in any order.
  var all: some Sequence<Value> { values.lazy.compactMap(\.self) }
}
