/// The type that a value must have for a format to use it, and the types of the value's members. A
/// format ignores a member whose value has another type. Because the types are declared here,
/// members with other types can be counted in one place, regardless of the code that reads them.
package indirect enum JSONShape: Sendable {
  case text
  /// Text or a whole number, because programs use either for identifiers.
  case identifier
  case truth
  /// A number, or text that contains a number.
  case number
  /// A number that is 0 or at least 1, and may have a fraction.
  case count
  /// A value that satisfies a predicate.
  case test(@Sendable (JSONValue) -> Bool)
  /// An object with these members, each of which may be absent.
  case object([JSONName: JSONShape])
  case list(JSONShape)
  /// Text, or a value of another shape.
  case orText(JSONShape)

  /// Returns the names of members whose value has another type. Null and empty text count as
  /// absent. `name` is the name of the value itself.
  ///
  /// - Complexity: O(*n*) in the size of the value.
  package func misfits(of value: JSONValue?, named name: String) -> [String] {
    switch (self, value) {
    case (_, nil), (_, .null?): return []
    case (_, .string(let text)?) where text.isEmpty: return []
    case (.object(let members), .object(let values)?):
      return members.flatMap { $1.misfits(of: values[$0], named: $0.text) }
    case (.list(let shape), .array(let elements)?):
      return elements.flatMap { shape.misfits(of: $0, named: name) }
    case (.orText, .string?): return []
    case (.orText(let shape), let value): return shape.misfits(of: value, named: name)
    case (_, let value?): return isFit(value) ? [] : [name]
    }
  }

  private func isFit(_ value: JSONValue) -> Bool {
    switch self {
    case .text: value.stringValue != nil
    case .identifier: value.stringValue != nil || value.integerValue != nil
    case .truth: value.boolValue != nil
    case .number: value.looseNumber != nil
    case .count: value.looseNumber.map { $0 == 0 || $0 >= 1 } ?? false
    case .test(let isFit): isFit(value)
    case .object, .list, .orText: false
    }
  }
}
