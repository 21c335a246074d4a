public import LiveEvents
public import WireFormats

/// Takes what connections receive; implemented by the daemon's rooms.
public protocol IngestSink: Sendable {
  /// Takes lines for one room.
  ///
  /// Called on the connection's event loop; must not block. Deliveries of one connection come in
  /// the order of its lines. The sink reports the progress of each delivery by its receipt.
  func deliver(_ delivery: IngestDelivery)

  /// Counts lines whose room is unknown. Called on the connection's event loop; must not block.
  func rejectUnroutable(_ counts: RejectionCounts)
}

/// Lines of one connection for one room, in order.
public struct IngestDelivery: Sendable {
  public let connection: ConnectionID
  public let room: RoomName
  /// If empty, the delivery only carries counts, or asks for acknowledgement.
  public let events: [LiveEvent]
  /// Lines for this room that could not be read. They count as received.
  public let rejections: RejectionCounts
  /// When the bytes were read.
  public let arrival: Timestamp
  /// Which time the room's frames follow, as requested by the connection.
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

  /// The number of lines that this delivery represents.
  public var received: Int { events.count + rejections.total }
}

/// Identifies a connection for as long as the process lives.
public struct ConnectionID: Sendable, Hashable, CustomStringConvertible {
  public let rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public var description: String { "connection \(rawValue)" }
}
