package import LiveEvents
package import NIOCore
import Platform
package import UnixSockets
import WireFormats

/// How the ingest socket is served. Every limit has a default that suits a machine with two cores.
package struct IngestConfiguration: Sendable {
  /// How many connections are served at a time; further ones are closed at once. A quarter of them is
  /// reserved for those of ``hasReserve``.
  package var maximumConnections = 256
  /// Whose connections may use the reserve.
  package var hasReserve: @Sendable (Peer) -> Bool = { _ in true }
  /// Who may send at all; other connections are closed at once.
  package var maySend: @Sendable (Peer) -> Bool = { _ in true }
  /// A connection stops taking lines once what it has handed over and the sink has not consumed takes this
  /// many bytes of memory. One more read may already be in progress.
  package var maximumOutstandingBytes = 4 << 20
  /// The same for all connections together; beyond it, each has only ``ownBytes``.
  package var sharedBytes = 64 << 20
  package var ownBytes = 64 << 10
  /// A connection stops reading once the sink has this many deliveries that it has not consumed.
  package var maximumOutstandingDeliveries = 64
  /// A connection stops reading once this many syncs are unanswered.
  package var maximumOutstandingSyncs = 256
  /// How many rooms a connection remembers by number.
  package var maximumRoomsRemembered = 1024
  /// How many reads there are in a turn of a connection.
  static let readsPerTurn = 4
  /// How many lines are taken between two looks at the limits.
  static let linesAtOnce = 512
  /// Bytes per read. A slab is at most this large, plus the beginning of a line from the read
  /// before.
  package var readSize = 64 * 1024
  /// How long a stopping server waits for a sender to read its answers once all are written.
  ///
  /// A sender that reads at all has done so within milliseconds. One that does not must not keep
  /// the service from saving its state before its service manager loses patience.
  package var drainTimeout = TimeAmount.seconds(2)
  /// Supplies the time of arrival.
  package var now: @Sendable () -> Timestamp = IngestConfiguration.systemTime

  package init() {}

  /// The system's clock, in milliseconds since 1970.
  package static let systemTime: @Sendable () -> Timestamp = { Timestamp(WallClock.milliseconds()) }

  /// The most memory that the connections may take, in bytes.
  package var memoryLimit: Int {
    // The last lines are taken before the limit is noticed; an array of events grows by doubling.
    let handedOver =
      ownBytes + ConnectionCore.batchLimit + LineDecoder.maximumLineLength
      + Self.linesAtOnce * 2 * MemoryLayout<LiveEvent>.stride
    // A buffer, an unfinished line, a turn's reads, and what was in the socket when the sender left.
    let read = readSize + LineDecoder.maximumLineLength + 2 * Self.readsPerTurn * readSize
    // What SwiftNIO holds before a channel is not writable, and a last batch.
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
