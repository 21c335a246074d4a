import Glibc
import LiveEvents

/// Turns the bytes of a room's name into a number, so that no string has to be made for each line.
struct RoomTable {
  private(set) var names: [RoomName]
  private var indices: [RoomName: Int]
  /// Recently seen spellings, by a hash of their bytes.
  private var recent = [Spelling?](repeating: nil, count: 64)

  /// A name as spelled by a line, and the room that it denotes.
  private struct Spelling {
    let bytes: [UInt8]
    let isChannel: Bool
    let index: Int
  }

  /// - Parameter fallback: the room of lines that do not name one.
  init(fallback: RoomName = .main) {
    names = [fallback]
    indices = [fallback: 0]
  }

  /// The room of a native line; `nil` if the name is invalid.
  mutating func native(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: false)
  }

  /// The room of an IRC channel, given without `#`: its name in lower case; `nil` if that is
  /// invalid.
  mutating func channel(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: true)
  }

  /// The index of a room, which is added if it is unknown.
  mutating func index(of name: RoomName) -> Int {
    if let index = indices[name] { return index }
    let index = names.count
    names.append(name)
    indices[name] = index
    return index
  }

  /// Forgets all rooms except the one for lines that name none.
  mutating func removeAll() { self = RoomTable(fallback: names[0]) }

  private mutating func find(_ bytes: UnsafeBufferPointer<UInt8>, isChannel: Bool) -> Int? {
    guard let start = bytes.baseAddress, (1...64).contains(bytes.count) else { return nil }
    // First byte, last byte and length distinguish most rooms of a stream; a collision costs a
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
