import Ingest
import LiveEvents
import Synchronization
import WireFormats

/// Records deliveries. The sink acknowledges deliveries immediately, or when the test does so.
final class RecordingSink: IngestSink {
  struct Note: Equatable, CustomStringConvertible {
    var room: String
    var events: [LiveEvent]
    var rejections: [RejectionReason: Int]
    var clock: String
    var wantsAcknowledgement: Bool
    var position: BatchPosition?

    var description: String {
      "\(room): \(events.count) events, \(rejections), \(clock), \(wantsAcknowledgement)"
    }
  }

  private struct State {
    var notes: [Note] = []
    var rejections: [RejectionCounts] = []
    var unroutable: [RejectionReason: Int] = [:]
    var held: [DeliveryReceipt] = []
  }

  private let state = Mutex(State())
  private let isHolding: Bool

  init(holding: Bool = false) { isHolding = holding }

  func deliver(_ delivery: RoomDelivery) {
    state.withLock { state in
      state.rejections.append(delivery.rejections)
      state.notes.append(
        Note(
          room: delivery.room.description, events: delivery.events,
          rejections: Self.dictionary(delivery.rejections), clock: delivery.clock.rawValue,
          wantsAcknowledgement: delivery.receipt.wantsAcknowledgement,
          position: delivery.position))
      if isHolding { state.held.append(delivery.receipt) }
    }
    if !isHolding { delivery.receipt.markApplied() }
  }

  func rejectUnroutable(_ counts: RejectionCounts) {
    state.withLock { state in
      state.unroutable.merge(Self.dictionary(counts), uniquingKeysWith: +)
    }
  }

  private static func dictionary(_ counts: RejectionCounts) -> [RejectionReason: Int] {
    Dictionary(uniqueKeysWithValues: counts.byReason.map { ($0.reason, $0.count) })
  }

  var rejections: [RejectionCounts] { state.withLock { $0.rejections } }
  var notes: [Note] { state.withLock { $0.notes } }
  var unroutable: [RejectionReason: Int] { state.withLock { $0.unroutable } }

  /// Removes and returns the held receipts, in the order of their deliveries.
  func takeHeld() -> [DeliveryReceipt] {
    state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
  }

  /// Returns all payloads of a room, in order.
  func payloads(_ room: String) -> [LiveEvent.Payload] {
    notes.filter { $0.room == room }.flatMap { $0.events.map(\.payload) }
  }

  /// Returns all rejections of a room, by reason.
  func rejections(_ room: String) -> [RejectionReason: Int] {
    notes.filter { $0.room == room }
      .reduce(into: [:]) { $0.merge($1.rejections, uniquingKeysWith: +) }
  }
}
