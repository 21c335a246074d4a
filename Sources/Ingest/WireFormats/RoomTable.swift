import Glibc
import LiveEvents

/// Maps the bytes of room names to indices, without creating a string for each line.
struct RoomTable {
  private(set) var names: [RoomName]
  private var indices: [RoomName: Int]
  /// Recently seen spellings, at the slot given by a hash of their bytes.
  private var recent = [Spelling?](repeating: nil, count: 64)

  /// A room name as spelled in a line, and the room that it denotes.
  private struct Spelling {
    let bytes: [UInt8]
    let isChannel: Bool
    let index: Int
  }

  /// - Parameter fallback: The room of lines that name no room.
  init(fallback: RoomName = .main) {
    names = [fallback]
    indices = [fallback: 0]
  }

  /// Returns the room that a native line names, or `nil` if the name is invalid.
  mutating func native(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: false)
  }

  /// Returns the room of an IRC channel, given without `#`. The room has the channel's name in
  /// lower case. Returns `nil` if that name is invalid.
  mutating func channel(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    find(bytes, isChannel: true)
  }

  /// Returns the index of a room. Adds the room if it is unknown.
  mutating func index(of name: RoomName) -> Int {
    if let index = indices[name] { return index }
    let index = names.count
    names.append(name)
    indices[name] = index
    return index
  }

  /// Removes all rooms except the fallback room.
  mutating func removeAll() { self = RoomTable(fallback: names[0]) }

  private mutating func find(_ bytes: UnsafeBufferPointer<UInt8>, isChannel: Bool) -> Int? {
    guard let start = bytes.baseAddress, (1...64).contains(bytes.count) else { return nil }
    // First byte, last byte and length distinguish most rooms of a stream. A collision only costs a
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
