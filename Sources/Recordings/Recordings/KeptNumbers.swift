/// The numbers that the files of this program have. One that no daemon gets to was written by
/// somebody else; it must not be taken, since what is added to it would overflow.
package enum KeptNumbers {
  /// Whatever is counted, and times in milliseconds. 2 to the 53rd is as far as other programs
  /// count that read JSON.
  static let range = 0...1 << 53
  /// The latest time in nanoseconds, decades after the latest that a room has.
  static let latest: Int64 = 1 << 62 + 1 << 60

  /// The name of the first member of JSON objects whose number is not possible; `nil` if there is
  /// none.
  ///
  /// - Complexity: O(*n*) in the number of bytes, below a nanosecond for each: far less than to
  ///   decode them.
  package static func impossibleMember(in text: UnsafeBufferPointer<UInt8>) -> String? {
    var position = 0
    /// Of the string before the number.
    var name = 0..<0
    while position < text.count {
      let start = position
      position += 1
      switch text[start] {
      case UInt8(ascii: "\""):
        while position < text.count, text[position] != UInt8(ascii: "\"") {
          position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        name = start + 1..<max(start + 1, min(position, text.count))
        position += 1
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        var hasExponent = false
        while position < text.count, isPart(text[position]) {
          hasExponent = hasExponent || text[position] | 0x20 == UInt8(ascii: "e")
          position += 1
        }
        guard position - start > 15 || hasExponent else { continue }
        // The number of a member follows its name immediately in what this program writes.
        let isNamed =
          name.upperBound + 2 == start && text[start - 1] == UInt8(ascii: ":")
        let name = isNamed ? String(decoding: text[name], as: UTF8.self) : ""
        guard isPossible(String(decoding: text[start..<position], as: UTF8.self), as: name) else {
          return name
        }
      default: break
      }
    }
    return nil
  }

  /// Whether a byte may be in a number.
  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private static func isPossible(_ number: String, as name: String) -> Bool {
    // What is not a number at all is found by the decoder.
    guard let value = Double(number), value.magnitude > Double(range.upperBound) else {
      return true
    }
    return switch name {
    case "nanoseconds": Int64(number).map { (0...latest).contains($0) } ?? false
    // Before the first event.
    case "now", "newest", "newestDeletion", "lastAt": Int64(number) == .min
    case "firstAt": Int64(number) == .max
    // A hash, and a sum of measurements, which is no integer.
    case "word", "sum": true
    default: false
    }
  }
}
