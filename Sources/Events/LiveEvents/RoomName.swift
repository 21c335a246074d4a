/// The name of a room: `[a-z0-9_][a-z0-9_.-]{0,63}`, because paths and labels contain names.
public struct RoomName: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let description: String

  /// The room of events that name no room.
  public static let main = RoomName(unchecked: "main")

  /// Creates a room name, or `nil` if `name` is invalid.
  public init?(_ name: some StringProtocol) {
    var name = String(name)
    guard name.withUTF8(RoomName.isValid) else { return nil }
    self.description = name
  }

  /// Creates a room name from bytes, or `nil` if they are invalid. Valid names are ASCII.
  public init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    guard RoomName.isValid(bytes) else { return nil }
    self.description = String(decoding: bytes, as: UTF8.self)
  }

  private init(unchecked name: String) { self.description = name }

  public static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (1...64).contains(bytes.count) else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        continue
      case UInt8(ascii: "."), UInt8(ascii: "-"):
        if index == 0 { return false }
      default: return false
      }
    }
    return true
  }

  public static func < (lhs: RoomName, rhs: RoomName) -> Bool { lhs.description < rhs.description }
}
