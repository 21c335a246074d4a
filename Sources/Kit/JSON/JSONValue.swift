/// One JSON value (RFC 8259), as Varlink uses it.
///
/// Integers and other numbers are distinguished because Varlink's `int` allows neither a fraction
/// nor an exponent. An integer literal outside the range of `Int64` is read as ``number(_:)``, so
/// it is not accepted as an `int`. Members of an object have no order; encoding sorts them by name.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Always finite: JSON has neither infinities nor NaN.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}

extension JSONValue {
  /// The members if this is an object.
  package var objectValue: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements if this is an array.
  package var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The text if this is a string.
  package var stringValue: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number if this is an integer.
  package var integerValue: Int64? {
    if case .integer(let integer) = self { integer } else { nil }
  }

  /// The truth value if this is a boolean.
  package var boolValue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The member with this name; nil if this is not an object or has no such member.
  package subscript(name: String) -> JSONValue? { objectValue?[name] }
}

// Not by `nil`: where a `JSONValue?` is meant, such a literal would silently become JSON's null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// If a name occurs twice, the last value counts.
  package init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { _, last in last }))
  }
}
