import LiveEvents
import WireFormats

/// Events of one `SendEvents` call, by room, in the order in which rooms first occur.
struct SentEvents: ~Copyable {
  struct Refusal: Error { let reason: RejectionReason }

  struct Batch {
    let room: RoomName
    var events: [LiveEvent]
  }

  private(set) var batches: [Batch] = []
  private var decoder = LineDecoder()
  private let fallback: RoomName
  private let arrival: Timestamp

  /// - Parameter fallback: the room of events that name none.
  init(fallback: RoomName, arrival: Timestamp) {
    self.fallback = fallback
    self.arrival = arrival
  }

  /// Adds one event, given as a line of JSON.
  mutating func add(_ line: [UInt8]) throws(Refusal) {
    let slab = ByteSlab(line)
    let slice = ByteSlab.Slice(offset: 0, count: line.count)
    switch decoder.decode(slab, line: slice, arrival: arrival) {
    case .event(let event, let reference):
      // Events that name no room and those that name `main` look alike here.
      let room = reference == .main ? fallback : decoder.name(of: reference)
      if let index = batches.firstIndex(where: { $0.room == room }) {
        batches[index].events.append(event)
      } else {
        batches.append(Batch(room: room, events: [event]))
      }
    case .rejected(let reason, _): throw Refusal(reason: reason)
    case .control, .blank: throw Refusal(reason: .unknownType)
    }
  }
}
