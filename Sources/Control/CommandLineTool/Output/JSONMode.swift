import ArgumentParser
package import JSON

/// Whether and how JSON is printed.
package enum JSONMode: String, CaseIterable, Sendable, ExpressibleByArgument {
  case off
  /// Prints each value on one line.
  case short
  /// Prints each value on several indented lines.
  case pretty

  /// Returns the JSON of a value with a line ending; nil if the mode is off.
  package func text(_ value: JSONValue) -> [UInt8]? {
    var bytes: [UInt8] = []
    switch self {
    case .off: return nil
    case .short: value.append(to: &bytes)
    case .pretty: value.appendIndented(to: &bytes, depth: 0)
    }
    bytes.append(0x0A)
    return bytes
  }
}

extension JSONValue {
  /// Appends the value on several lines, indented by two spaces per level, with members sorted by
  /// name.
  func appendIndented(to bytes: inout [UInt8], depth: Int) {
    func newLine(_ depth: Int) {
      bytes.append(0x0A)
      bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }
    switch self {
    case .array(let elements) where !elements.isEmpty:
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        newLine(depth + 1)
        element.appendIndented(to: &bytes, depth: depth + 1)
      }
      newLine(depth)
      bytes.append(UInt8(ascii: "]"))
    case .object(let members) where !members.isEmpty:
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        newLine(depth + 1)
        JSONValue.string(member.key.text).append(to: &bytes)
        bytes.append(contentsOf: ": ".utf8)
        member.value.appendIndented(to: &bytes, depth: depth + 1)
      }
      newLine(depth)
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .integer, .number, .string, .array, .object: append(to: &bytes)
    }
  }
}
