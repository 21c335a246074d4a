import Glibc

/// The name of a member: text that is compared, ordered and hashed by its bytes. Untrusted clients
/// choose names. The operators of `String` use Unicode's canonical equivalence, whose cost is
/// quadratic in the length of a run of combining marks. Moreover, two names with different bytes
/// are two members (RFC 8259, section 8.3).
package struct JSONName: Sendable {
  /// The name as text, whose `==` and hash are those of `String`.
  package let text: String

  package init(_ text: some StringProtocol) { self.text = String(text) }

  /// The length in UTF-8 bytes.
  package var byteCount: Int { text.utf8.count }

  fileprivate func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    return Array(text.utf8).withUnsafeBufferPointer(body)
  }
}

extension JSONName: Hashable, Comparable {
  /// - Complexity: O(*n*) in the bytes of the shorter name.
  package static func == (left: JSONName, right: JSONName) -> Bool {
    left.withBytes { left in
      right.withBytes { right in
        left.count == right.count && compare(left, right) == 0
      }
    }
  }

  /// - Complexity: O(*n*) in the bytes of the name.
  package func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }

  /// Returns whether the bytes of the left name sort before the bytes of the right one.
  /// - Complexity: O(*n*) in the bytes of the shorter name.
  package static func < (left: JSONName, right: JSONName) -> Bool {
    left.withBytes { left in
      right.withBytes { right in
        let order = compare(left, right)
        return order < 0 || order == 0 && left.count < right.count
      }
    }
  }

  /// Compares the common prefix of the names, like `memcmp`.
  private static func compare(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Int32 {
    guard let start = left.baseAddress, let other = right.baseAddress else { return 0 }
    return memcmp(start, other, min(left.count, right.count))
  }
}

extension JSONName: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral value: String) { self.init(value) }
  package var description: String { text }
}

// This conformance encodes a dictionary with such keys as an object.
extension JSONName: Codable, CodingKeyRepresentable {
  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  package var codingKey: any CodingKey { JSONKey(stringValue: text) }
  package init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}
