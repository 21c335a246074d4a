import Foundation

extension JSONWriter {
  /// Returns the JSON text of an `Encodable` value, for Foundation's decoder. Members have the
  /// order in which the value encodes them.
  ///
  /// Writing the text while the value's `encode(to:)` runs takes a third of the time of
  /// Foundation's encoder, which builds a tree first. `Data` is written as Base64. Do not use this
  /// method for `URL` and `Decimal`, for which Foundation's decoder expects special forms.
  ///
  /// - Throws: `EncodingError` for infinities and NaN, and errors of the value's own `encode(to:)`.
  /// - Complexity: O(*n*) in the size of the text.
  package static func text(of value: some Encodable) throws -> [UInt8] {
    let output = JSONTextOutput()
    try output.write(value, depth: 0)
    return output.writer.bytes
  }
}

/// The text written so far for a value that is being encoded. A container ends when something is
/// written to an enclosing container, because `Codable` does not signal the end. A class, because
/// `Codable` requires reference semantics.
private final class JSONTextOutput {
  var writer = JSONWriter()
  /// The containers that have begun and not ended, the outermost first.
  private var open: [JSONWriter.Bracket] = []

  /// Ends the containers nested deeper than `depth`.
  func end(to depth: Int) { while open.count > depth { writer.close(open.removeLast()) } }

  /// Begins a container at the nesting level `depth`, or continues it. Returns the nesting level
  /// inside the container.
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
    // Foundation's encoder also writes an empty object for a value that encodes nothing.
    if writer.bytes.count == start { _ = begin(.object, in: depth) }
    end(to: depth)
  }
}

private struct JSONTextEncoder: JSONEncodingTarget {
  let output: JSONTextOutput
  /// The number of containers around the value.
  let depth: Int

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(JSONMembers(targets: targets(in: .object)))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONElements(targets: targets(in: .array))
  }
  private func targets(in bracket: JSONWriter.Bracket) -> JSONTextTargets {
    JSONTextTargets(output: output, depth: output.begin(bracket, in: depth))
  }

  func encodeNil() { output.writer.appendJSON("null") }
  func encode(_ value: Bool) { output.writer.append(value) }
  func encode(_ value: String) { output.writer.append(value) }
  func encode(_ value: Double) throws {
    guard value.isFinite else { throw invalid(value) }
    output.writer.append(value)
  }
  func encode(_ value: Float) throws {
    guard value.isFinite else { throw invalid(value) }
    output.writer.append(value)
  }
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
}

private struct JSONTextTargets: JSONEncodingTargets {
  let output: JSONTextOutput
  let depth: Int
  private(set) var count = 0

  init(output: JSONTextOutput, depth: Int) { (self.output, self.depth) = (output, depth) }

  func member(_ name: String) -> JSONTextEncoder {
    output.end(to: depth)
    output.writer.name(text: name)
    return JSONTextEncoder(output: output, depth: depth)
  }

  mutating func element() -> JSONTextEncoder {
    output.end(to: depth)
    count += 1
    return JSONTextEncoder(output: output, depth: depth)
  }
}
