/// Values, each with a number, which another one gets once it is removed.
///
/// An array: a hash table takes up to three times what it holds, and touches all of it.
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
