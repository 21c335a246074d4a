package import Ingest
package import LiveEvents
package import NIOCore
import SystemSupport

/// Appends the batches of the ingest socket to the replicated log. The server of the socket must
/// run on the node's event loop.
package struct LogSink: IngestSink {
  private let node: NIOLoopBound<ClusterNode>

  package init(_ node: NIOLoopBound<ClusterNode>) { self.node = node }

  package func deliver(_ delivery: RoomDelivery) {
    node.value.sources.record(delivery.events, in: delivery.room)
    node.value.append(delivery)
  }

  /// Ignores the counts of rejected events, because the connection already counts these events and
  /// reports them to the sender.
  package func rejectUnroutable(_ counts: RejectionCounts) {}

  package func sourceConnected(_ source: Text, in room: RoomName) {
    node.value.sources.connect(source, in: room)
  }

  package func sourceDisconnected(_ source: Text, in room: RoomName) {
    guard let health = node.value.sources.disconnect(source, in: room) else { return }
    let event = LiveEvent(
      timestamp: Timestamp(WallClock.milliseconds()), payload: .source(.state(health)))
    // The end of a source is logged in the form of a host action, because an event would reopen a
    // room that was closed meanwhile.
    guard let act = LoggedAct.event(event) else { return }
    node.value.append(act, in: room) { _ in }
  }
}
