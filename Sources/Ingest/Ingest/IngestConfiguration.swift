package import LiveEvents
package import NIOCore
import SystemSupport
package import UnixSockets
import WireFormats

/// The settings of the ingest socket. The default of every limit suits a machine with two cores.
package struct IngestConfiguration: Sendable {
  /// The maximum number of open connections; any additional connection is closed immediately. A
  /// quarter is reserved for the peers that ``hasReserve`` accepts.
  package var maximumConnections = 256
  /// Returns whether a peer may use the reserved connections.
  package var hasReserve: @Sendable (Peer) -> Bool = { _ in true }
  /// Returns whether a peer may send events. Connections of other peers are closed immediately.
  package var maySend: @Sendable (Peer) -> Bool = { _ in true }
  /// The memory, in bytes, of unconsumed deliveries at which a connection stops processing lines.
  /// One more read may already be in progress.
  package var maximumOutstandingBytes = 4 << 20
  /// The memory of the unconsumed deliveries of all connections together, in bytes, at which each
  /// connection may use only ``ownBytes``.
  package var sharedBytes = 64 << 20
  package var ownBytes = 64 << 10
  /// The number of unconsumed deliveries at which a connection stops reading.
  package var maximumOutstandingDeliveries = 64
  /// The number of unanswered syncs at which a connection stops reading.
  package var maximumOutstandingSyncs = 256
  package var maximumRoomsRemembered = 1024
  /// The maximum number of reads in one turn of a connection.
  static let readsPerTurn = 4
  /// The maximum number of lines processed between two checks of the limits.
  static let linesAtOnce = 512
  /// The number of bytes per read. A slab is at most this large, plus an incomplete line from the
  /// previous read.
  package var readSize = 64 * 1024
  /// How long a stopping server waits for a sender to read its answers, once all answers are
  /// written. A sender needs only milliseconds to read them. A sender that does not read must not
  /// delay saving the service's state beyond the service manager's timeout.
  package var drainTimeout = TimeAmount.seconds(2)
  package var now: @Sendable () -> Timestamp = IngestConfiguration.systemTime

  package init() {}

  /// The system clock's time in milliseconds since 1970.
  package static let systemTime: @Sendable () -> Timestamp = { Timestamp(WallClock.milliseconds()) }

  /// The maximum memory of all connections in bytes.
  package var memoryLimit: Int {
    // Lines are processed before the limit is checked, and an array of events grows by doubling.
    let handedOver =
      ownBytes + ConnectionCore.batchLimit + LineDecoder.maximumLineLength
      + Self.linesAtOnce * 2 * MemoryLayout<LiveEvent>.stride
    // A buffer, an incomplete line, one turn's reads, and the data left in the socket by a sender
    // that disconnected.
    let read = readSize + LineDecoder.maximumLineLength + 2 * Self.readsPerTurn * readSize
    // The data that SwiftNIO buffers before a channel becomes unwritable, and a last batch of
    // answers.
    let answers = (64 << 10) + ownBytes
    let rooms = maximumRoomsRemembered * 256
    return sharedBytes
      + maximumConnections * (handedOver + read + answers + rooms + LineDecoder.memory)
  }

  var limits: DeliveryLedger.Limits {
    DeliveryLedger.Limits(
      bytes: maximumOutstandingBytes, share: ownBytes, deliveries: maximumOutstandingDeliveries,
      syncs: maximumOutstandingSyncs)
  }
}
