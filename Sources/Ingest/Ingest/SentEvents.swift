package import LiveEvents
import WireFormats

/// The events of one `SendEvents` call, grouped by room in the order of each room's first event.
package struct SentEvents: ~Copyable {
  package struct Refusal: Error {
    package let reason: RejectionReason
    /// A description of the fault in the event, if it is known.
    package var fault: String?
  }

  package struct Batch {
    package let room: RoomName
    package var events: [LiveEvent]
  }

  package private(set) var batches: [Batch] = []
  private var indices: [RoomReference: Int] = [:]
  private var decoder: LineDecoder
  private let arrival: Timestamp

  /// - Parameter fallback: The room of events that name no room.
  package init(fallback: RoomName, arrival: Timestamp) {
    decoder = LineDecoder(fallback: fallback)
    self.arrival = arrival
  }

  /// Adds one event, given as a line of JSON.
  package mutating func add(_ line: [UInt8]) throws(Refusal) {
    let slab = ByteSlab(line)
    let slice = ByteSlab.Slice(offset: 0, count: line.count)
    switch decoder.decode(slab, line: slice, arrival: arrival) {
    case .event(let event, let room):
      if let index = indices[room] {
        batches[index].events.append(event)
      } else {
        indices[room] = batches.count
        batches.append(Batch(room: decoder.name(of: room), events: [event]))
      }
    case .rejected(let reason, _):
      throw Refusal(reason: reason, fault: decoder.fault(of: slice, in: slab))
    case .control, .blank: throw Refusal(reason: .unknownType)
    }
  }
}
