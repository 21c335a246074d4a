package import HostScreen
package import Ingest
package import LiveEvents
import Locking
import SystemSupport

/// Posts the events that connections received to the lanes of their rooms.
package final class EventRouter: IngestSink {
  private let directory: RoomDirectory
  /// The counts of lines whose room is unknown or could not be opened.
  private let unroutable = Guarded(EventCounts())
  /// The number of connections through which each source reports its state.
  private let connections = Guarded<[SourceKey: Int]>([:])

  private struct SourceKey: Hashable {
    let source: Text
    let room: RoomName
  }

  /// Called once per delivery with rejected lines, with their room if it is known.
  private let onRejection: @Sendable (RejectionCounts, RoomName?) -> Void

  package init(
    directory: RoomDirectory,
    onRejection: @escaping @Sendable (RejectionCounts, RoomName?) -> Void = { _, _ in }
  ) {
    self.directory = directory
    self.onRejection = onRejection
  }

  package var unroutableCounts: EventCounts { unroutable.withLock { $0 } }

  package func deliver(_ delivery: RoomDelivery) {
    guard let lane = directory.laneOpening(delivery.room) else {
      unroutable.withLock {
        $0.add(delivery.rejections)
        $0.reject(.tooManyRooms, delivery.events.count)
      }
      delivery.receipt.markRejected(delivery.events.count)
      delivery.receipt.markApplied()
      var rejections = delivery.rejections
      rejections.add(.tooManyRooms, count: delivery.events.count)
      onRejection(rejections, delivery.room)
      return
    }
    if !delivery.rejections.isEmpty { onRejection(delivery.rejections, delivery.room) }
    lane.post(delivery)
  }

  package func sourceConnected(_ source: Text, in room: RoomName) {
    connections.withLock { $0[SourceKey(source: source, room: room), default: 0] += 1 }
  }

  package func sourceDisconnected(_ source: Text, in room: RoomName) {
    let key = SourceKey(source: source, room: room)
    let isLast = connections.withLock { connections in
      connections[key, default: 1] -= 1
      guard connections[key] == 0 else { return false }
      connections[key] = nil
      return true
    }
    // The source may have opened a new connection before its old one closed.
    guard isLast, let lane = directory.lane(of: room) else { return }
    lane.postVisit(to: room) { $0?.endSources(because: "its connection ended") { $0 == source } }
  }

  package func rejectUnroutable(_ counts: RejectionCounts) {
    unroutable.withLock { $0.add(counts) }
    onRejection(counts, nil)
  }
}
