import Foundation

extension JSONWriter {
  /// The JSON text of an `Encodable` value, members in the order in which it encodes them; for Foundation's decoder.
  ///
  /// The text is written while the value's `encode(to:)` runs, in a third of the time that Foundation's encoder needs to
  /// build a tree first. `Data` is written as Base64; `URL` and `Decimal`, which that decoder expects in forms of their
  /// own as well, are not for this.
  ///
  /// - Throws: `EncodingError` for infinities and NaN, and what the value's own `encode(to:)` throws.
  /// - Complexity: O(*n*) in the size of the text.
  package static func text(of value: some Encodable) throws -> [UInt8] {
    let output = JSONTextOutput()
    try output.write(value, depth: 0)
    return output.writer.bytes
  }
}

/// What is written of a value while it is being encoded. Nobody says when a container has ended: it has as soon as
/// something is written to one around it.
///
/// Containers are values with reference semantics in `Codable`, hence a class. It never leaves the encoding call.
private final class JSONTextOutput {
  var writer = JSONWriter()
  /// The containers that have begun and not ended, the outermost first.
  private var open: [JSONWriter.Bracket] = []

  /// Ends the containers within the one that is the `depth`th from outside, or within the document.
  func end(to depth: Int) { while open.count > depth { writer.close(open.removeLast()) } }

  /// Begins the container whose place is in the `depth`th, or goes on with it. Returns how deep that is.
  func begin(_ bracket: JSONWriter.Bracket, in depth: Int) -> Int {
    if open.count > depth {
      end(to: depth + 1)
    } else {
      writer.open(bracket)
      open.append(bracket)
    }
    return depth + 1
  }

  func write<Value: Encodable>(_ value: Value, depth: Int) throws {
    if Value.self == Data.self, let data = value as? Data {
      return writer.append(data.base64EncodedString())
    }
    let start = writer.bytes.count
    try value.encode(to: JSONTextEncoder(output: self, depth: depth))
    // As Foundation's encoder does with a value that encodes nothing.
    if writer.bytes.count == start { _ = begin(.object, in: depth) }
    end(to: depth)
  }
}

private struct JSONTextEncoder: Encoder, SingleValueEncodingContainer {
  let output: JSONTextOutput
  /// How many containers there are around the value.
  let depth: Int
  /// Not kept: an array for each member would cost more than the rest of the encoding, and errors carry the value at
  /// fault.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(
      JSONTextMembers(output: output, depth: output.begin(.object, in: depth)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONTextElements(output: output, depth: output.begin(.array, in: depth))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { output.writer.appendJSON("null") }
  func encode(_ value: Bool) { output.writer.append(value) }
  func encode(_ value: String) { output.writer.append(value) }
  func encode(_ value: Double) throws { try number(value) { $0.append(value) } }
  func encode(_ value: Float) throws { try number(value) { $0.append(value) } }
  func encode(_ value: Int) { output.writer.append(value) }
  func encode(_ value: Int8) { output.writer.append(Int(value)) }
  func encode(_ value: Int16) { output.writer.append(Int(value)) }
  func encode(_ value: Int32) { output.writer.append(Int(value)) }
  func encode(_ value: Int64) { output.writer.append(Int(value)) }
  func encode(_ value: UInt) { output.writer.appendJSON(value.description) }
  func encode(_ value: UInt8) { output.writer.append(Int(value)) }
  func encode(_ value: UInt16) { output.writer.append(Int(value)) }
  func encode(_ value: UInt32) { output.writer.append(Int(value)) }
  func encode(_ value: UInt64) { output.writer.appendJSON(value.description) }
  func encode<Value: Encodable>(_ value: Value) throws { try output.write(value, depth: depth) }

  private func number(
    _ value: some BinaryFloatingPoint, _ body: (inout JSONWriter) -> Void
  ) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "JSON cannot represent \(value)"))
    }
    body(&output.writer)
  }
}

private struct JSONTextMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let output: JSONTextOutput
  let depth: Int
  var codingPath: [any CodingKey] { [] }

  private func member(_ key: some CodingKey) -> JSONTextEncoder {
    output.end(to: depth)
    output.writer.name(text: key.stringValue)
    return JSONTextEncoder(output: output, depth: depth)
  }

  func encodeNil(forKey key: Key) { member(key).encodeNil() }
  func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int, forKey key: Key) { member(key).encode(value) }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
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

private struct JSONTextElements: UnkeyedEncodingContainer {
  let output: JSONTextOutput
  let depth: Int
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(output: JSONTextOutput, depth: Int) { (self.output, self.depth) = (output, depth) }

  private mutating func element() -> JSONTextEncoder {
    output.end(to: depth)
    count += 1
    return JSONTextEncoder(output: output, depth: depth)
  }

  mutating func encodeNil() { element().encodeNil() }
  mutating func encode<Value: Encodable>(_ value: Value) throws { try element().encode(value) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    element().unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { element() }
}
