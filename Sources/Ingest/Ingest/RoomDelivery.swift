package import LiveEvents
package import WireFormats

/// Events from one sender for one room, in order. A class, so that moving a delivery through
/// several queues moves only a reference.
package final class RoomDelivery: Sendable {
  package let room: RoomName
  /// A delivery without events carries only counts or a request for acknowledgement.
  package let events: [LiveEvent]
  /// The number of lines for this room that the connection rejected, which count as received.
  package let rejections: RejectionCounts
  /// The clock that the sender requests for the room's frames.
  package let clock: FrameClock
  package let receipt: DeliveryReceipt
  /// The batch whose events for this room are all in this delivery, or `nil` if the source sends no
  /// batches.
  package let position: BatchPosition?

  package init(
    room: RoomName, events: [LiveEvent], rejections: RejectionCounts = RejectionCounts(),
    clock: FrameClock = .arrival, receipt: DeliveryReceipt = DeliveryReceipt(),
    position: BatchPosition? = nil
  ) {
    self.room = room
    self.events = events
    self.rejections = rejections
    self.clock = clock
    self.receipt = receipt
    self.position = position
  }

  /// The number of lines in this delivery, including rejected lines.
  package var received: Int { events.count + rejections.total }
}
