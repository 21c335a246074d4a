package import HostScreen
package import Ingest
import LiveEvents
import Synchronization

/// Brings what connections received to the lanes of its rooms.
package final class EventRouter: IngestSink {
  private let directory: RoomDirectory
  /// Lines that belong to no room.
  private let unroutable = Mutex(EventCounts())

  package init(directory: RoomDirectory) { self.directory = directory }

  /// Counts of lines of which no room is known, or whose room could not be opened.
  package var unroutableCounts: EventCounts { unroutable.withLock { $0 } }

  package func deliver(_ delivery: IngestDelivery) {
    guard let lane = directory.laneOpening(delivery.room) else {
      unroutable.withLock {
        $0.add(delivery.rejections)
        $0.reject(.tooManyRooms, delivery.events.count)
      }
      delivery.receipt.rejected(delivery.events.count)
      delivery.receipt.applied()
      return
    }
    lane.post(
      RoomDelivery(
        room: delivery.room, events: delivery.events, rejections: delivery.rejections,
        clock: delivery.clock, acknowledgement: .receipt(delivery.receipt)))
  }

  package func rejectUnroutable(_ counts: RejectionCounts) {
    unroutable.withLock { $0.add(counts) }
  }
}
