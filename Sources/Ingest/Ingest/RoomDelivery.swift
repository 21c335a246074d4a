public import LiveEvents
public import WireFormats

/// Events of one sender for one room, in their order.
public struct RoomDelivery: Sendable {
  public let room: RoomName
  /// May be empty: then the delivery carries only counts, or the wish for acknowledgement.
  public let events: [LiveEvent]
  /// Lines for this room that could not be read. They count as received.
  public let rejections: RejectionCounts
  /// Which time the room's frames follow, as the sender wishes.
  public let clock: FrameClock
  /// Tells the sender what became of the events.
  public let receipt: DeliveryReceipt

  public init(
    room: RoomName, events: [LiveEvent], rejections: RejectionCounts = RejectionCounts(),
    clock: FrameClock = .arrival, receipt: DeliveryReceipt = DeliveryReceipt()
  ) {
    self.room = room
    self.events = events
    self.rejections = rejections
    self.clock = clock
    self.receipt = receipt
  }

  /// Number of lines that this delivery stands for.
  public var received: Int { events.count + rejections.total }
}
