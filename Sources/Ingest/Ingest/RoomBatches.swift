import LiveEvents
import WireFormats

/// Lines of one connection, gathered by room until they are handed over.
struct RoomBatches {
  struct Batch {
    let room: RoomReference
    var events: [LiveEvent] = []
    var rejections = RejectionCounts()
    /// Bytes of the lines gathered.
    var bytes = 0
  }

  private(set) var batches: [Batch] = []
  private(set) var unroutable = RejectionCounts()
  /// Place in `batches` of each room, by its number; -1 if it has none.
  private var places: [Int] = []
  private var lastRoom: RoomReference?
  private var lastPlace = 0
  /// Events to make room for in a new batch.
  private var expectedEvents = 0

  var isEmpty: Bool { batches.isEmpty && unroutable.isEmpty }

  @inline(__always)
  mutating func add(_ event: consuming LiveEvent, to room: RoomReference, bytes: Int) {
    let place = place(of: room)
    batches[place].events.append(event)
    batches[place].bytes += bytes
  }

  mutating func reject(_ reason: RejectionReason, room: RoomReference?, bytes: Int) {
    guard let room else {
      unroutable.add(reason)
      return
    }
    let place = place(of: room)
    batches[place].rejections.add(reason)
    batches[place].bytes += bytes
  }

  /// Takes all that is gathered.
  mutating func take() -> (batches: [Batch], unroutable: RejectionCounts) {
    defer {
      for batch in batches { places[batch.room.index] = -1 }
      expectedEvents = batches.count == 1 ? batches[0].events.count : 0
      batches = []
      unroutable = RejectionCounts()
      lastRoom = nil
    }
    return (batches, unroutable)
  }

  @inline(__always)
  private mutating func place(of room: RoomReference) -> Int {
    if room == lastRoom { return lastPlace }
    return findPlace(of: room)
  }

  private mutating func findPlace(of room: RoomReference) -> Int {
    while places.count <= room.index { places.append(-1) }
    if places[room.index] < 0 {
      places[room.index] = batches.count
      batches.append(Batch(room: room))
      batches[batches.count - 1].events.reserveCapacity(expectedEvents)
    }
    lastRoom = room
    lastPlace = places[room.index]
    return lastPlace
  }
}
