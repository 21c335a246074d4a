import LiveEvents
import WireFormats

/// The lines of one connection, collected by room until they are handed over.
struct RoomBatches {
  struct Batch {
    let room: RoomReference
    fileprivate(set) var events: [LiveEvent] = []
    var rejections = RejectionCounts()
    /// The total size of the collected lines in bytes.
    var bytes = 0
    /// The memory of the batch in bytes, including the events, since a short line is smaller than
    /// its event.
    var memory: Int {
      bytes + events.capacity * MemoryLayout<LiveEvent>.stride
    }

    @inline(__always)
    fileprivate mutating func add(_ event: consuming LiveEvent, bytes: Int) {
      events.append(event)
      self.bytes += bytes
    }
  }

  private(set) var batches: [Batch] = []
  private(set) var unroutable = RejectionCounts()
  /// The index of each room's batch in `batches`, or -1 if the room has none.
  private var indices: [Int] = []
  private var lastRoom: RoomReference?
  private var lastIndex = 0
  /// The event capacity to reserve in a new batch.
  private var expectedEvents = 0

  var memory: Int { batches.reduce(0) { $0 + $1.memory } }

  var isEmpty: Bool { batches.isEmpty && unroutable.isEmpty }

  @inline(__always)
  mutating func add(_ event: consuming LiveEvent, to room: RoomReference, bytes: Int) {
    batches[index(of: room)].add(event, bytes: bytes)
  }

  /// Returns whether no line of the room has been rejected for this reason yet.
  mutating func isFirst(_ reason: RejectionReason, room: RoomReference?) -> Bool {
    (room.map { batches[index(of: $0)].rejections } ?? unroutable)[reason] == 0
  }

  mutating func reject(
    _ reason: RejectionReason, room: RoomReference?, bytes: Int, fault: String?
  ) {
    guard let room else {
      unroutable.add(reason, fault: fault)
      return
    }
    let index = index(of: room)
    batches[index].rejections.add(reason, fault: fault)
    batches[index].bytes += bytes
  }

  /// Counts the decoder's remarks about a line.
  mutating func addRemarks(_ remarks: [DecodingRemark], room: RoomReference?) {
    for remark in remarks {
      guard let room else {
        unroutable.add(remark)
        continue
      }
      batches[index(of: room)].rejections.add(remark)
    }
  }

  /// Rejects all collected events, because their batch is rejected. Returns the number of events.
  mutating func rejectEvents(_ reason: RejectionReason) -> Int {
    var count = 0
    for index in batches.indices {
      batches[index].rejections.add(reason, count: batches[index].events.count)
      count += batches[index].events.count
      batches[index].events = []
    }
    return count
  }

  mutating func removeAll() -> (batches: [Batch], unroutable: RejectionCounts) {
    defer {
      for batch in batches { indices[batch.room.index] = -1 }
      expectedEvents = batches.count == 1 ? batches[0].events.count : 0
      batches = []
      unroutable = RejectionCounts()
      lastRoom = nil
    }
    return (batches, unroutable)
  }

  @inline(__always)
  private mutating func index(of room: RoomReference) -> Int {
    if room == lastRoom { return lastIndex }
    return findIndex(of: room)
  }

  private mutating func findIndex(of room: RoomReference) -> Int {
    while indices.count <= room.index { indices.append(-1) }
    if indices[room.index] < 0 {
      indices[room.index] = batches.count
      batches.append(Batch(room: room))
      batches[batches.count - 1].events.reserveCapacity(expectedEvents)
    }
    lastRoom = room
    lastIndex = indices[room.index]
    return lastIndex
  }
}

/// The rooms that received events from a connection since its last sync, without duplicates.
struct TouchedRooms {
  private(set) var rooms: [RoomReference] = []
  private var isMember: [Bool] = []

  mutating func insert(_ room: RoomReference) {
    while isMember.count <= room.index { isMember.append(false) }
    guard !isMember[room.index] else { return }
    isMember[room.index] = true
    rooms.append(room)
  }

  mutating func removeAll() -> [RoomReference] {
    defer { self = TouchedRooms() }
    return rooms
  }
}
