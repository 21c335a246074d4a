package import LiveEvents
package import WireFormats

/// Events of one sender for one room, in their order.
///
/// A class, since it goes through several queues: what is moved is one reference.
package final class RoomDelivery: Sendable {
  package let room: RoomName
  /// May be empty: then the delivery carries only counts, or the wish for acknowledgement.
  package let events: [LiveEvent]
  /// Lines for this room that could not be read. They count as received.
  package let rejections: RejectionCounts
  /// Which time the room's frames follow, as the sender wishes.
  package let clock: FrameClock
  /// Tells the sender what became of the events.
  package let receipt: DeliveryReceipt
  /// The batch of which the events are all that concern the room; `nil` if their source has no batches.
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

  /// Number of lines in this delivery.
  package var received: Int { events.count + rejections.total }
}
