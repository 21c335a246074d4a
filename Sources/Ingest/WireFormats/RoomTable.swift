import Glibc
import LiveEvents

/// Turns the bytes of a room's name into a number, so that a room costs no string per line.
struct RoomTable {
  private(set) var names: [RoomName]
  private var indices: [RoomName: Int]
  /// Recently seen spellings, by a hash of their bytes.
  private var recent = [Spelling?](repeating: nil, count: 64)

  /// A name as a line wrote it, and the room that it stands for.
  private struct Spelling {
    let bytes: [UInt8]
    let isChannel: Bool
    let index: Int
  }

  /// - Parameter fallback: the room of lines that name none.
  init(fallback: RoomName = .main) {
    names = [fallback]
    indices = [fallback: 0]
  }

  /// The room of a native line; `nil` if the name breaks the rule.
  mutating func native(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: false)
  }

  /// The room of an IRC channel, whose name is given without `#`: the name in lower case.
  mutating func channel(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: true)
  }

  /// The place of a room.
  mutating func index(of name: RoomName) -> Int {
    if let index = indices[name] { return index }
    let index = names.count
    names.append(name)
    indices[name] = index
    return index
  }

  /// Forgets all rooms but that of lines that name none.
  mutating func removeAll() { self = RoomTable(fallback: names[0]) }

  private mutating func find(_ bytes: UnsafeBufferPointer<UInt8>, isChannel: Bool) -> Int? {
    guard let start = bytes.baseAddress, (1...64).contains(bytes.count) else { return nil }
    // First byte, last byte and length tell most rooms of one stream apart; a clash costs a
    // look-up by name.
    let slot =
      (Int(start[0]) &+ Int(start[bytes.count - 1]) &* 7 &+ bytes.count &* 31
        &+ (isChannel ? 1 : 0))
      & 63
    if let spelling = recent[slot], spelling.isChannel == isChannel,
      spelling.bytes.count == bytes.count, memcmp(spelling.bytes, start, bytes.count) == 0
    {
      return spelling.index
    }
    guard let name = isChannel ? Self.lowercased(bytes) : RoomName(utf8: bytes) else { return nil }
    let index = index(of: name)
    recent[slot] = Spelling(bytes: Array(bytes), isChannel: isChannel, index: index)
    return index
  }

  private static func lowercased(_ bytes: UnsafeBufferPointer<UInt8>) -> RoomName? {
    bytes.map(\.asciiLowercased).withUnsafeBufferPointer { RoomName(utf8: $0) }
  }
}
