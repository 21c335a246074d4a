import Glibc
public import LiveEvents
public import NIOCore

/// How the ingest socket is served. Every bound has a default that suits a machine of two cores.
public struct IngestConfiguration: Sendable {
  /// Connections served at a time; one more is closed at once.
  public var maximumConnections = 256
  /// Bytes of lines that a connection has handed over and the sink has not consumed, before it
  /// stops reading. One read more may be under way: 256 KiB.
  public var maximumOutstandingBytes = 1 << 20
  /// Deliveries that the sink has not consumed, before the connection stops reading.
  public var maximumOutstandingDeliveries = 64
  /// Syncs that are not answered, before the connection stops reading.
  public var maximumOutstandingSyncs = 256
  /// Rooms that a connection remembers by number.
  public var maximumRoomsRemembered = 1024
  /// Bytes per read, which is also the largest slab but for the beginning of a line before it.
  public var readSize = 64 * 1024
  /// How long a server that stops lets a sender read its answers, once they are all written.
  ///
  /// A sender that reads at all has done so within milliseconds. One that does not must not keep
  /// the service from saving its state within its manager's time-out.
  public var drainTimeout = TimeAmount.seconds(2)
  /// Where the time of arrival comes from.
  public var now: @Sendable () -> Timestamp = IngestConfiguration.systemTime

  public init() {}

  /// The system's clock, in milliseconds since 1970.
  public static let systemTime: @Sendable () -> Timestamp = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time.tv_sec) * 1000 + Timestamp(time.tv_nsec) / 1_000_000
  }

  var limits: DeliveryLedger.Limits {
    DeliveryLedger.Limits(
      bytes: maximumOutstandingBytes, deliveries: maximumOutstandingDeliveries,
      syncs: maximumOutstandingSyncs)
  }
}
