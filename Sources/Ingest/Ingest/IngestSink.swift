package import LiveEvents
import WireFormats

/// A receiver of the connections' events, which the daemon's rooms implement.
package protocol IngestSink: Sendable {
  /// Receives lines for one room, in the order in which the connection sent them. Called on the
  /// connection's event loop; must not block. Report the progress of a delivery through its
  /// receipt.
  func deliver(_ delivery: RoomDelivery)

  /// Counts lines whose room is unknown. Called on the connection's event loop; must not block.
  func rejectUnroutable(_ counts: RejectionCounts)

  /// Reports that the state of a source has arrived on a connection. When the connection ends,
  /// `sourceDisconnected` is called once for each such report, after the last delivery. Both
  /// methods are called on the connection's event loop and must not block.
  func sourceConnected(_ source: Text, in room: RoomName)
  func sourceDisconnected(_ source: Text, in room: RoomName)
}

extension IngestSink {
  package func sourceConnected(_ source: Text, in room: RoomName) {}
  package func sourceDisconnected(_ source: Text, in room: RoomName) {}
}
