extension JSONValue {
  /// Makes the JSON form of an `Encodable` value.
  ///
  /// - Throws: `EncodingError` for values that JSON cannot represent (infinities, NaN, integers
  ///   over `Int64.max`), and errors of the value's own `encode(to:)`.
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

/// The storage of a value while its `encode(to:)` runs. A class, because `Codable` requires
/// containers with reference semantics.
private final class Slot: JSONEncodingTargets {
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

  func element() -> JSONValueEncoder {
    let slot = Slot()
    if case .array(var slots) = content {
      content = .array([])  // so that the append does not copy
      slots.append(slot)
      content = .array(slots)
    }
    return JSONValueEncoder(slot: slot)
  }

  func member(_ name: String) -> JSONValueEncoder {
    let slot = Slot()
    if case .object(var slots) = content {
      content = .object([:])
      slots[JSONName(name)] = slot
      content = .object(slots)
    }
    return JSONValueEncoder(slot: slot)
  }
}

private struct JSONValueEncoder: JSONEncodingTarget {
  var slot = Slot()

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.beginObject()
    return KeyedEncodingContainer(JSONMembers(targets: slot))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginArray()
    return JSONElements(targets: slot)
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

extension JSONValue: Encodable {
  /// Encodes to any encoder. The encoder of this library stores the value without encoding its
  /// parts.
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
