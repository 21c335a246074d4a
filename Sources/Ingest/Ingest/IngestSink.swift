package import LiveEvents
import WireFormats

/// Takes what connections receive; implemented by the daemon's rooms.
package protocol IngestSink: Sendable {
  /// Takes lines for one room.
  ///
  /// Called on the connection's event loop; must not block. Deliveries of one connection come in
  /// the order of its lines. The sink reports the progress of each delivery by its receipt.
  func deliver(_ delivery: RoomDelivery)

  /// Counts lines whose room is unknown. Called on the connection's event loop; must not block.
  func rejectUnroutable(_ counts: RejectionCounts)

  /// Notes that a connection brings the states of a source, and, once for each such note, that the connection has
  /// ended: behind its last delivery. Called on the connection's event loop; must not block.
  func sourceCame(_ source: Text, in room: RoomName)
  func sourceLeft(_ source: Text, in room: RoomName)
}

extension IngestSink {
  package func sourceCame(_ source: Text, in room: RoomName) {}
  package func sourceLeft(_ source: Text, in room: RoomName) {}
}
