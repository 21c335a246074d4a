package import LiveEvents
package import NIOCore
import Platform
package import UnixSockets

/// How the ingest socket is served. Every limit has a default that suits a machine with two cores.
package struct IngestConfiguration: Sendable {
  /// How many connections are served at a time; further ones are closed at once. A quarter of them is
  /// reserved for those of ``hasReserve``.
  package var maximumConnections = 256
  /// Whose connections may use the reserve.
  package var hasReserve: @Sendable (Peer) -> Bool = { _ in true }
  /// Who may send at all; other connections are closed at once.
  package var maySend: @Sendable (Peer) -> Bool = { _ in true }
  /// A connection stops reading once it has handed over this many bytes of lines that the sink has
  /// not consumed. One more read may already be in progress: 256 KiB.
  package var maximumOutstandingBytes = 1 << 20
  /// A connection stops reading once the sink has this many deliveries that it has not consumed.
  package var maximumOutstandingDeliveries = 64
  /// A connection stops reading once this many syncs are unanswered.
  package var maximumOutstandingSyncs = 256
  /// How many rooms a connection remembers by number.
  package var maximumRoomsRemembered = 1024
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

  var limits: DeliveryLedger.Limits {
    DeliveryLedger.Limits(
      bytes: maximumOutstandingBytes, deliveries: maximumOutstandingDeliveries,
      syncs: maximumOutstandingSyncs)
  }
}
