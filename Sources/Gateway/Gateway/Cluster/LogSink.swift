package import Ingest
package import LiveEvents
package import NIOCore
import Platform

/// Passes what the ingest socket takes to the log. Its server must run on the node's event loop.
package struct LogSink: IngestSink {
  private let node: NIOLoopBound<ClusterNode>

  package init(_ node: NIOLoopBound<ClusterNode>) { self.node = node }

  package func deliver(_ delivery: RoomDelivery) {
    node.value.sources.record(delivery.events, in: delivery.room)
    node.value.append(delivery)
  }

  /// They are counted by their connection, which tells its sender.
  package func rejectUnroutable(_ counts: RejectionCounts) {}

  package func sourceCame(_ source: Text, in room: RoomName) {
    node.value.sources.connect(source, in: room)
  }

  package func sourceLeft(_ source: Text, in room: RoomName) {
    guard let health = node.value.sources.disconnect(source, in: room) else { return }
    let event = LiveEvent(
      timestamp: Timestamp(WallClock.milliseconds()), payload: .source(.state(health)))
    // An act, which does not open a room that was closed meanwhile.
    guard let act = LoggedAct.event(event) else { return }
    node.value.append(act, in: room) { _ in }
  }
}
