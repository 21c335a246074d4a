public import LiveEvents
public import NIOCore
import Platform

/// How the ingest socket is served. Every limit has a default that suits a machine with two cores.
public struct IngestConfiguration: Sendable {
  /// How many connections are served at a time; further ones are closed at once.
  public var maximumConnections = 256
  /// A connection stops reading once it has handed over this many bytes of lines that the sink has
  /// not consumed. One more read may already be in progress: 256 KiB.
  public var maximumOutstandingBytes = 1 << 20
  /// A connection stops reading once the sink has this many deliveries that it has not consumed.
  public var maximumOutstandingDeliveries = 64
  /// A connection stops reading once this many syncs are unanswered.
  public var maximumOutstandingSyncs = 256
  /// How many rooms a connection remembers by number.
  public var maximumRoomsRemembered = 1024
  /// Bytes per read. A slab is at most this large, plus the beginning of a line from the read
  /// before.
  public var readSize = 64 * 1024
  /// How long a stopping server waits for a sender to read its answers once all are written.
  ///
  /// A sender that reads at all has done so within milliseconds. One that does not must not keep
  /// the service from saving its state before its service manager loses patience.
  public var drainTimeout = TimeAmount.seconds(2)
  /// Supplies the time of arrival.
  public var now: @Sendable () -> Timestamp = IngestConfiguration.systemTime

  public init() {}

  /// The system's clock, in milliseconds since 1970.
  public static let systemTime: @Sendable () -> Timestamp = { Timestamp(WallClock.milliseconds()) }

  var limits: DeliveryLedger.Limits {
    DeliveryLedger.Limits(
      bytes: maximumOutstandingBytes, deliveries: maximumOutstandingDeliveries,
      syncs: maximumOutstandingSyncs)
  }
}
