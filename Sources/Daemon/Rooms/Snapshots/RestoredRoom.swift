import LiveEvents
import Recordings

/// A room that is open, but whose time does not advance until the log has been replayed.
struct RestoredRoom {
  let room: RoomName
  let lane: HostLane
  let saved: RoomSnapshot.Moment
  /// Whether there was a newer snapshot that could not be read.
  let isOlder: Bool
  /// The log sequence of the room's present state.
  var sequence: Int
  /// The recording that was open when an earlier version saved the room.
  let recording: String?
  /// Whether the log has a gap after ``sequence``.
  var isLost = false

  /// Returns whether the batch of a mark is the room's next one, and advances to it.
  mutating func follows(_ mark: LogMark) -> Bool {
    guard mark.sequence > sequence, !isLost else { return false }
    guard mark.after == sequence || mark.opened != nil else {
      isLost = true
      return false
    }
    sequence = mark.sequence
    return true
  }
}
