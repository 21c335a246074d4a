import WireFormats

/// The rooms that a connection fed since its last sync, each once.
struct TouchedRooms {
  private(set) var rooms: [RoomReference] = []
  private var isMember: [Bool] = []

  mutating func insert(_ room: RoomReference) {
    while isMember.count <= room.index { isMember.append(false) }
    guard !isMember[room.index] else { return }
    isMember[room.index] = true
    rooms.append(room)
  }

  mutating func takeAll() -> [RoomReference] {
    defer { self = TouchedRooms() }
    return rooms
  }
}
