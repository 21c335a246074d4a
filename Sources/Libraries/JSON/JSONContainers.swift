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
  associatedtype Target: JSONEncodingTarget
  /// The number of elements so far.
  var count: Int { get }
  func member(_ name: String) -> Target
  mutating func element() -> Target
}

struct JSONMembers<Targets: JSONEncodingTargets, Key: CodingKey>: KeyedEncodingContainerProtocol {
  let targets: Targets
  var codingPath: [any CodingKey] { [] }

  private func target(_ key: some CodingKey) -> Targets.Target { targets.member(key.stringValue) }

  func encodeNil(forKey key: Key) throws {
    var target = target(key)
    try target.encodeNil()
  }
  // Encodes the common types without calling their `encode(to:)`.
  func encode(_ value: Bool, forKey key: Key) throws {
    var target = target(key)
    try target.encode(value)
  }
  func encode(_ value: String, forKey key: Key) throws {
    var target = target(key)
    try target.encode(value)
  }
  func encode(_ value: Int, forKey key: Key) throws {
    var target = target(key)
    try target.encode(value)
  }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    var target = target(key)
    try target.encode(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { target(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    target(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { target(JSONKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { target(key) }
}

struct JSONElements<Targets: JSONEncodingTargets>: UnkeyedEncodingContainer {
  var targets: Targets
  var codingPath: [any CodingKey] { [] }
  var count: Int { targets.count }

  mutating func encodeNil() throws {
    var target = targets.element()
    try target.encodeNil()
  }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    var target = targets.element()
    try target.encode(value)
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { targets.element().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    targets.element().unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { targets.element() }
}
