import JSON

/// Values of servers, of which each release may write one in another way.
extension JSONValue {
  /// A count, written as a number or as text; `nil` for any other value.
  var looseCount: Int? {
    looseNumber.flatMap { $0 >= 0 && $0 <= 9e15 ? Int($0) : nil }
  }

  /// Whether something is so, whether it is written as a truth value, a number or text.
  var looseTruth: Bool? {
    switch self {
    case .bool(let truth): truth
    case .integer(let integer): integer == 0 ? false : integer == 1 ? true : nil
    case .string(let text) where text.utf8.count <= 5:
      ["true": true, "false": false][text.lowercased()]
    case .null, .number, .string, .array, .object: nil
    }
  }
}

extension JSONShape {
  static let looseCount = test { $0.looseCount != nil }
}
