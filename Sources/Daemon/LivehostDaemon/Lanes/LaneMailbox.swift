import Ingest
import LiveEvents
import Locking
import Recordings
import SystemSupport

/// How other threads reach a lane: one wake-up per batch, not per delivery.
///
/// Rooms are opened and closed the same way, so that openings, closings and deliveries keep the
/// order in which they were posted.
final class LaneMailbox: Sendable {
  enum Item: Sendable {
    /// A new room, or one of an earlier run of the daemon, whose snapshot would make every item
    /// large.
    indirect case open(RoomName, RoomSnapshot?)
    case close(RoomName, isForGood: Bool, @Sendable (_ failure: String?) -> Void)
    case delivery(RoomDelivery)
    /// A room in which nothing has happened for long, and all that did before is on disk.
    case pack(RoomName, after: Int)
    /// A room whose snapshot would let the log be cut.
    case save(RoomName)
    /// Something to do with a room, `nil` if there is no room of that name.
    case visit(RoomName, @Sendable (Room?) -> Void)
    /// Something to do with all rooms.
    case survey(@Sendable (LaneRooms) -> Void)

    /// The room that it is about; `nil` if it concerns the lane as a whole.
    var room: RoomName? {
      switch self {
      case .open(let room, _), .close(let room, _, _), .visit(let room, _), .pack(let room, _),
        .save(let room):
        room
      case .delivery(let delivery): delivery.room
      case .survey: nil
      }
    }
  }

  private struct Contents: Sendable {
    var items: [Item] = []
    var isScheduled = false
  }

  private let contents = Guarded(Contents())

  /// Adds `item`. Returns whether the lane must be woken: it is not awake for this mailbox already.
  func post(_ item: Item) -> Bool {
    contents.withLock { contents in
      contents.items.append(item)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
  }

  /// Takes the items posted so far, and leaves an empty list, whose memory the next ones are put
  /// into. The lane stays awake for this mailbox until ``sleep()``.
  func take(into items: inout [Item]) {
    contents.withLock { swap(&$0.items, &items) }
  }

  /// Lets the lane sleep until something is posted; `false` if something already is.
  func sleep() -> Bool {
    contents.withLock { contents in
      contents.isScheduled = !contents.items.isEmpty
      return !contents.isScheduled
    }
  }
}
