/// One JSON value (RFC 8259), as used by Varlink. Integers and other numbers are distinguished,
/// because Varlink's `int` allows neither a fraction nor an exponent. An integer literal outside
/// the range of `Int64` is parsed as ``number(_:)``, so it is not accepted as an `int`. Members of
/// an object have no order; encoding sorts them by name.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number that is always finite, because JSON has neither infinities nor NaN.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([JSONName: JSONValue])
}

extension JSONValue: Hashable {
  /// Returns whether two values are equal. Texts are equal only if their bytes are equal. With
  /// canonical equivalence, a patch between texts with different bytes could be empty, and
  /// comparing texts of untrusted clients could be slow (see ``JSONName``).
  /// - Complexity: O(*n*) in the size of the values.
  package static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): JSONName(left) == JSONName(right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _),
      (.object, _):
      false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let bool): hasher.combine(bool)
    case .integer(let integer): hasher.combine(integer)
    case .number(let number): hasher.combine(number)
    case .string(let text): hasher.combine(JSONName(text))
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue {
  /// The members, or nil if this is not an object.
  package var objectValue: [JSONName: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements, or nil if this is not an array.
  package var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The text, or nil if this is not a string.
  package var stringValue: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// Returns the text if this is a string of at most `limit` bytes. Longer text from untrusted
  /// clients may be compared and hashed only as a ``JSONName``, which explains the reason.
  package func word(atMost limit: Int = 256) -> String? {
    stringValue.flatMap { $0.utf8.count <= limit ? $0 : nil }
  }

  /// The number, or nil if this is not an integer.
  package var integerValue: Int64? {
    if case .integer(let integer) = self { integer } else { nil }
  }

  /// The Boolean value, or nil if this is not a Boolean.
  package var boolValue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The member with this name, or nil if this is not an object or has no such member.
  package subscript(name: String) -> JSONValue? { objectValue?[JSONName(name)] }
}

// Not `ExpressibleByNilLiteral`: where a `JSONValue?` is expected, `nil` would silently become
// JSON's null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// If a name occurs twice, the last value is used.
  package init(dictionaryLiteral members: (JSONName, JSONValue)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { _, last in last }))
  }
}
