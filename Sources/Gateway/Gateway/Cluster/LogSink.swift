package import Ingest
package import NIOCore
import WireFormats

/// Passes what the ingest socket takes to the log. Its server must run on the node's event loop.
package struct LogSink: IngestSink {
  private let node: NIOLoopBound<ClusterNode>

  package init(_ node: NIOLoopBound<ClusterNode>) { self.node = node }

  package func deliver(_ delivery: RoomDelivery) { node.value.append(delivery) }

  /// They are counted by their connection, which tells its sender.
  package func rejectUnroutable(_ counts: RejectionCounts) {}
}
