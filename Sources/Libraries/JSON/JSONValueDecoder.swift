extension JSONValue {
  /// Decodes a value of type `T`.
  ///
  /// Numbers must fit exactly: a fraction does not become an integer, and nothing is truncated.
  /// Member names are used unchanged.
  /// - Throws: `DecodingError`, whose coding path contains the offending member.
  package func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    try JSONValueDecoder(value: self, path: .root).decode(type)
  }
}

struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let value: JSONValue
  let path: JSONPath
  var codingPath: [any CodingKey] { path.keys }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch([String: JSONValue].self) }
    return KeyedDecodingContainer(KeyedJSON(members: members, path: path))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([JSONValue].self) }
    return UnkeyedJSON(elements: elements, path: path)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "not a \(type)")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    guard case .integer(let integer) = value, let exact = T(exactly: integer) else {
      throw mismatch(type)
    }
    return exact
  }

  func decodeNil() -> Bool { value == .null }
  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let bool) = value else { throw mismatch(type) }
    return bool
  }
  func decode(_ type: String.Type) throws -> String {
    guard case .string(let text) = value else { throw mismatch(type) }
    return text
  }
  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .number(let number): return number
    case .integer(let integer): return Double(integer)
    case .null, .bool, .string, .array, .object: throw mismatch(type)
    }
  }
  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}

/// The path of a value, converted to an array only when an error or a type needs it.
indirect enum JSONPath {
  case root
  case member(any CodingKey, of: JSONPath)

  var keys: [any CodingKey] {
    switch self {
    case .root: []
    case .member(let key, let parent): parent.keys + [key]
    }
  }
}

/// The name of a member or the index of an element on a coding path.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

private struct KeyedJSON<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [JSONName: JSONValue]
  let path: JSONPath
  var codingPath: [any CodingKey] { path.keys }

  var allKeys: [Key] { members.keys.sorted().compactMap { Key(stringValue: $0.text) } }
  func contains(_ key: Key) -> Bool { members[JSONName(key.stringValue)] != nil }

  private func member(_ key: some CodingKey) throws -> JSONValueDecoder {
    guard let value = members[JSONName(key.stringValue)] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "no member '\(key.stringValue)'"))
    }
    return JSONValueDecoder(value: value, path: .member(key, of: path))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try T(from: member(key))
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { try member(JSONKey(stringValue: "super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct UnkeyedJSON: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let path: JSONPath
  var codingPath: [any CodingKey] { path.keys }
  var currentIndex = 0
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  private mutating func next() throws -> JSONValueDecoder {
    let path = JSONPath.member(JSONKey(intValue: currentIndex), of: path)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        JSONValue.self, .init(codingPath: path.keys, debugDescription: "no more elements"))
    }
    defer { currentIndex += 1 }
    return JSONValueDecoder(value: elements[currentIndex], path: path)
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, elements[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: next()) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder { try next() }
}

extension JSONValue: Decodable {
  /// Decodes from any decoder. The decoder of this library returns its value without decoding its
  /// parts.
  package init(from decoder: any Decoder) throws {
    if let decoder = decoder as? JSONValueDecoder {
      self = decoder.value
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let elements = try? container.decode([JSONValue].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([JSONName: JSONValue].self))
    }
  }
}
