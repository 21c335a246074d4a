import JSON

/// Lenient conversions, because servers may write the same value differently in each release.
extension JSONValue {
  /// A count written as a number or as text, or `nil` for any other value.
  var looseCount: Int? {
    looseNumber.flatMap { $0 >= 0 && $0 <= 9e15 ? Int($0) : nil }
  }

  /// A Boolean that is written as a JSON Boolean, as a number or as text, or `nil` for any other
  /// value.
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
