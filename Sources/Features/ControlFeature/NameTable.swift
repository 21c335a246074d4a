import LiveEvents

/// Numbers names as they come, up to a bound.
///
/// Throttles then compare numbers, and no name keeps the bytes alive that it was received in.
struct NameTable {
  private var numbers: [Text: Int] = [:]
  private var names: [String] = []
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  subscript(number: Int) -> String { names[number] }

  /// The number of a name; a new one if there is room, else `nil`. Expected O(length of the name).
  mutating func number(of name: Text) -> Int? {
    if let number = numbers[name] { return number }
    guard names.count < capacity else { return nil }
    numbers[name.owned()] = names.count
    names.append(String(name))
    return names.count - 1
  }
}
