/// An encoder for one value. `Codable` passes containers and encoders by value, but they share the
/// output, so no method here is mutating.
protocol JSONEncodingTarget: Encoder, SingleValueEncodingContainer {}

extension JSONEncodingTarget {
  /// The coding path is always empty: an array per member would cost more than the rest of the
  /// encoding. Errors contain the offending value instead of a path.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// Returns an error for a value that JSON cannot represent.
  func invalid(_ value: Any) -> EncodingError {
    .invalidValue(
      value, .init(codingPath: codingPath, debugDescription: "JSON cannot represent \(value)"))
  }
}

/// The encoders for the members of an object or the elements of an array.
protocol JSONEncodingTargets {
  associatedtype Place: JSONEncodingTarget
  /// The number of elements so far.
  var count: Int { get }
  func member(_ name: String) -> Place
  mutating func element() -> Place
}

struct JSONMembers<Places: JSONEncodingTargets, Key: CodingKey>: KeyedEncodingContainerProtocol {
  let places: Places
  var codingPath: [any CodingKey] { [] }

  private func place(_ key: some CodingKey) -> Places.Place { places.member(key.stringValue) }

  func encodeNil(forKey key: Key) throws {
    var place = place(key)
    try place.encodeNil()
  }
  // Encodes the common types without calling their `encode(to:)`.
  func encode(_ value: Bool, forKey key: Key) throws {
    var place = place(key)
    try place.encode(value)
  }
  func encode(_ value: String, forKey key: Key) throws {
    var place = place(key)
    try place.encode(value)
  }
  func encode(_ value: Int, forKey key: Key) throws {
    var place = place(key)
    try place.encode(value)
  }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    var place = place(key)
    try place.encode(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { place(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    place(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { place(JSONKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { place(key) }
}

struct JSONElements<Places: JSONEncodingTargets>: UnkeyedEncodingContainer {
  var places: Places
  var codingPath: [any CodingKey] { [] }
  var count: Int { places.count }

  mutating func encodeNil() throws {
    var place = places.element()
    try place.encodeNil()
  }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    var place = places.element()
    try place.encode(value)
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { places.element().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    places.element().unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { places.element() }
}
