/// One chat message for each of many rooms, like the lines of a source for many rooms. All lines
/// have the same length, and ``next(_:)`` changes only the numbers, so that the sender costs very
/// little.
struct RoomLines {
  let roomCount: Int
  private let length: Int
  private let numberOffset: Int
  private var bytes: [UInt8]
  private var number = 100_000_000

  init(rooms: Int) {
    roomCount = rooms
    var bytes: [UInt8] = []
    for room in 100_000..<100_000 + rooms {
      bytes += Self.line(room: "room-\(room)", number: number).utf8
    }
    self.bytes = bytes
    length = bytes.count / rooms
    numberOffset = #"{"type":"chat.message","room":"room-100000","id":"m"#.utf8.count
  }

  static func line(room: String, number: Int) -> String {
    #"{"type":"chat.message","room":"\#(room)","id":"m\#(number)","user":{"id":"u\#(number % 100 + 100)","#
      + #""name":"viewer \#(number % 100 + 100)"},"text":"what a stream, hello there"}"# + "\n"
  }

  /// Returns new messages for some of the rooms.
  mutating func next(_ rooms: Range<Int>) -> ArraySlice<UInt8> {
    for room in rooms {
      number += 1
      var digits = number
      for offset in stride(from: numberOffset + 8, through: numberOffset, by: -1) {
        bytes[room * length + offset] = UInt8(48 + digits % 10)
        digits /= 10
      }
    }
    return bytes[rooms.lowerBound * length..<rooms.upperBound * length]
  }
}
