public import LiveEvents
public import WireFormats

/// Takes what connections received. The daemon's rooms are one.
public protocol IngestSink: Sendable {
  /// Takes lines of one room.
  ///
  /// Called on the connection's event loop; must not block. Deliveries of one connection come in
  /// the order of its lines. The receipt tells how far they are.
  func deliver(_ delivery: IngestDelivery)

  /// Counts lines of which no room is known. Called on the connection's event loop; must not block.
  func rejectUnroutable(_ counts: RejectionCounts)
}

/// Lines of one connection for one room, in their order.
public struct IngestDelivery: Sendable {
  public let connection: ConnectionID
  public let room: RoomName
  /// May be empty: then the delivery only carries counts, or the wish for acknowledgement.
  public let events: [LiveEvent]
  /// Lines for this room that could not be read. They count as received.
  public let rejections: RejectionCounts
  /// When the bytes were read.
  public let arrival: Timestamp
  /// Which time the room's frames follow, as the connection wishes.
  public let clock: FrameClock
  public let receipt: DeliveryReceipt

  public init(
    connection: ConnectionID, room: RoomName, events: [LiveEvent],
    rejections: RejectionCounts = RejectionCounts(), arrival: Timestamp,
    clock: FrameClock = .arrival, receipt: DeliveryReceipt
  ) {
    self.connection = connection
    self.room = room
    self.events = events
    self.rejections = rejections
    self.arrival = arrival
    self.clock = clock
    self.receipt = receipt
  }

  /// Number of lines that this delivery stands for.
  public var received: Int { events.count + rejections.total }
}

/// Names a connection for as long as the process lives.
public struct ConnectionID: Sendable, Hashable, CustomStringConvertible {
  public let rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public var description: String { "connection \(rawValue)" }
}
