package import LiveEvents

/// One of the groups into which all rooms are divided. One node at a time leads a partition.
package struct Partition: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number of partitions. It must never change, because rooms would then belong to other
  /// partitions of the existing log.
  package static let count = 64
  /// The number of streams over which partitions are distributed. There are several streams so that
  /// several servers can each lead one.
  package static let streamCount = 8

  package let number: Int

  package init(number: Int) { self.number = number }

  package static var all: [Partition] { (0..<count).map(Partition.init) }

  /// Computes the partition of a room, by the FNV-1a hash of its name.
  package init(of room: RoomName) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in room.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    // The high bits are mixed in, because the low bits of the hash depend only on the low bits of
    // each byte.
    number = Int((hash ^ (hash >> 32)) % UInt64(Self.count))
  }

  package var description: String { "\(number)" }

  package static func < (left: Partition, right: Partition) -> Bool { left.number < right.number }

  /// The stream that stores the partition's log.
  package var stream: String { Self.stream(number * Self.streamCount / Self.count) }

  package static func stream(_ index: Int) -> String { "LH_LOG_\(index)" }

  /// A filter for the subjects of all rooms of the partition in the log.
  package var logSubjects: String { "lh.log.\(number).>" }

  package func logSubject(of room: RoomName) -> String {
    "lh.log.\(number).\(Self.token(of: room))"
  }

  /// Returns the room of a log subject; `nil` for any other subject.
  package static func room(ofLogSubject subject: String) -> RoomName? {
    guard subject.hasPrefix("lh.log."), let dot = subject.lastIndex(of: ".") else { return nil }
    return decode(subject[subject.index(after: dot)...]).flatMap { RoomName($0) }
  }

  /// Encodes a room's name in base64url, because a token of a subject must not contain dots.
  private static func token(of room: RoomName) -> String {
    var text = ""
    var bits = 0
    var value: UInt32 = 0
    for byte in room.description.utf8 {
      value = value << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.unicodeScalars.append(alphabet[Int(value >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.unicodeScalars.append(alphabet[Int(value << UInt32(6 - bits) & 63)]) }
    return text
  }

  private static func decode(_ token: Substring) -> String? {
    var bytes: [UInt8] = []
    var bits = 0
    var value: UInt32 = 0
    for scalar in token.unicodeScalars {
      guard let digit = alphabet.firstIndex(of: scalar) else { return nil }
      value = value << 6 | UInt32(digit)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars)
}
