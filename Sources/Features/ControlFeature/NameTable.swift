import LiveEvents

/// Numbers names in the order of their arrival, up to a limit. Throttles can then compare numbers,
/// and no name keeps its received bytes alive.
struct NameTable {
  private var numbers: [Text: Int] = [:]
  private var names: [String] = []
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  subscript(number: Int) -> String { names[number] }

  /// Returns the number of a name, which is the next number for an unknown name. Returns `nil` if
  /// the capacity is exhausted. Takes O(length of the name) on average.
  mutating func number(of name: Text) -> Int? {
    if let number = numbers[name] { return number }
    guard names.count < capacity else { return nil }
    numbers[name.owned()] = names.count
    names.append(String(name))
    return names.count - 1
  }
}
