/// What a value must be for a format to make use of it, and the same of its members.
///
/// Formats do without a member whose value is of no use. Where its shape is written down, such members can be counted in
/// one place, whichever code reads them.
package indirect enum JSONShape: Sendable {
  case text
  /// Text, or a whole number: programs differ in which of them an identifier is.
  case identifier
  case truth
  /// A number, or text that is one.
  case number
  /// A number that is 0 or at least 1, and may have a fraction.
  case count
  /// A value for which this is true.
  case test(@Sendable (JSONValue) -> Bool)
  /// The members that are read, each of which may be absent.
  case object([JSONName: JSONShape])
  case list(JSONShape)
  /// Text, or else a value of this shape.
  case orText(JSONShape)

  /// The names of members whose value is of no use. A value that is null or an empty text counts as absent.
  ///
  /// - Parameter name: what the value itself is called.
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
