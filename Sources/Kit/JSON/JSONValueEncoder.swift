extension JSONValue {
  /// The JSON form of an `Encodable` value.
  ///
  /// - Throws: `EncodingError` for what JSON cannot say (infinities, NaN, integers over
  ///   `Int64.max`), and what the value's own `encode(to:)` throws.
  package init(encoding value: some Encodable) throws {
    if let json = value as? JSONValue {
      self = json
    } else {
      let encoder = JSONValueEncoder()
      try value.encode(to: encoder)
      self = encoder.slot.value
    }
  }
}

/// Where a value grows while its `encode(to:)` runs. Containers are values with reference semantics
/// in `Codable`, hence a class. It never leaves the encoding call.
private final class Slot {
  private enum Content {
    case value(JSONValue)
    case array([Slot])
    case object([JSONName: Slot])
  }
  private var content = Content.object([:])

  var value: JSONValue {
    switch content {
    case .value(let value): value
    case .array(let slots): .array(slots.map(\.value))
    case .object(let slots): .object(slots.mapValues(\.value))
    }
  }

  func set(_ value: JSONValue) { content = .value(value) }
  func beginArray() { if case .array = content {} else { content = .array([]) } }
  func beginObject() { if case .object = content {} else { content = .object([:]) } }

  var count: Int { if case .array(let slots) = content { slots.count } else { 0 } }

  func append() -> Slot {
    let slot = Slot()
    if case .array(var slots) = content {
      content = .array([])  // so that the append does not copy
      slots.append(slot)
      content = .array(slots)
    }
    return slot
  }

  func member(_ name: JSONName) -> Slot {
    let slot = Slot()
    if case .object(var slots) = content {
      content = .object([:])
      slots[name] = slot
      content = .object(slots)
    }
    return slot
  }
}

private struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
  var slot = Slot()
  /// Not kept: an array for each member would cost more than the rest of the encoding, and errors
  /// carry the value at fault.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.beginObject()
    return KeyedEncodingContainer(KeyedSlot(slot: slot))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginArray()
    return UnkeyedSlot(slot: slot)
  }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  private func invalid(_ value: Any) -> EncodingError {
    .invalidValue(
      value, .init(codingPath: codingPath, debugDescription: "JSON cannot represent \(value)"))
  }
  private func integer(_ value: some FixedWidthInteger) throws {
    guard let exact = Int64(exactly: value) else { throw invalid(value) }
    slot.set(.integer(exact))
  }

  func encodeNil() { slot.set(.null) }
  func encode(_ value: Bool) { slot.set(.bool(value)) }
  func encode(_ value: String) { slot.set(.string(value)) }
  func encode(_ value: Double) throws {
    guard value.isFinite else { throw invalid(value) }
    slot.set(.number(value))
  }
  func encode(_ value: Float) throws { try encode(Double(value)) }
  func encode(_ value: Int) throws { try integer(value) }
  func encode(_ value: Int8) throws { try integer(value) }
  func encode(_ value: Int16) throws { try integer(value) }
  func encode(_ value: Int32) throws { try integer(value) }
  func encode(_ value: Int64) throws { try integer(value) }
  func encode(_ value: UInt) throws { try integer(value) }
  func encode(_ value: UInt8) throws { try integer(value) }
  func encode(_ value: UInt16) throws { try integer(value) }
  func encode(_ value: UInt32) throws { try integer(value) }
  func encode(_ value: UInt64) throws { try integer(value) }
  func encode<T: Encodable>(_ value: T) throws {
    if let json = value as? JSONValue {
      slot.set(json)
    } else {
      try value.encode(to: self)
    }
  }
}

private struct KeyedSlot<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: Slot
  var codingPath: [any CodingKey] { [] }

  private func member(_ key: some CodingKey) -> JSONValueEncoder {
    JSONValueEncoder(slot: slot.member(JSONName(key.stringValue)))
  }

  func encodeNil(forKey key: Key) { member(key).encodeNil() }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try member(key).encode(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { member(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    member(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { member(JSONKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

private struct UnkeyedSlot: UnkeyedEncodingContainer {
  let slot: Slot
  var codingPath: [any CodingKey] { [] }
  var count: Int { slot.count }

  private func element() -> JSONValueEncoder {
    JSONValueEncoder(slot: slot.append())
  }

  func encodeNil() { element().encodeNil() }
  func encode<T: Encodable>(_ value: T) throws { try element().encode(value) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: type) }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
  func superEncoder() -> any Encoder { element() }
}

extension JSONValue: Encodable {
  /// Works with any encoder; this library's own takes the value whole.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let members): try container.encode(members)
    }
  }
}
