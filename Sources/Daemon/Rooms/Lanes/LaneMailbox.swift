import Ingest
import LiveEvents
import Locking
import Recordings
import SystemSupport

/// The messages that other threads post to a lane. The lane is woken once per batch of messages.
///
/// Openings and closings of rooms are messages, too, so that they keep their order relative to
/// events.
final class LaneMailbox: Sendable {
  enum Item: Sendable {
    /// Open a new room, or restore one. `indirect` keeps the large snapshot from enlarging every
    /// item.
    indirect case open(RoomName, RoomSnapshot?)
    case close(RoomName, isForGood: Bool, @Sendable (_ failure: String?) -> Void)
    case delivery(RoomDelivery)
    /// Hibernate a room if this log sequence, which is on disk, is still its newest.
    case hibernate(RoomName, after: Int)
    /// Save a room, so that older segments of the log can be removed.
    case save(RoomName)
    /// Call a closure with a room, or with `nil` if the room is not open.
    case visit(RoomName, @Sendable (Room?) -> Void)
    /// Call a closure with all rooms.
    case survey(@Sendable (LaneRooms) -> Void)

    /// The room that the message is for; `nil` if it concerns the whole lane.
    var room: RoomName? {
      switch self {
      case .open(let room, _), .close(let room, _, _), .visit(let room, _), .hibernate(let room, _),
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

  /// Adds a message. Returns whether the caller must wake the lane, because it sleeps.
  func post(_ item: Item) -> Bool {
    contents.withLock { contents in
      contents.items.append(item)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
  }

  /// Swaps the posted messages with `items`, an empty list whose memory is reused. The lane stays
  /// awake for this mailbox until ``sleep()``.
  func swapItems(with items: inout [Item]) {
    contents.withLock { swap(&$0.items, &items) }
  }

  /// Lets the lane sleep until a message is posted; returns `false` if a message is waiting.
  func sleep() -> Bool {
    contents.withLock { contents in
      contents.isScheduled = !contents.items.isEmpty
      return !contents.isScheduled
    }
  }
}
