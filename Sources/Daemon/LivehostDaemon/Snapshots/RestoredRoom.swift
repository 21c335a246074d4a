import LiveEvents
import Recordings

/// A room that is open, but whose time stands still until it has seen everything.
struct RestoredRoom {
  let room: RoomName
  let lane: HostLane
  let saved: RoomSnapshot.Moment
  /// Whether there was a newer one, which cannot be read.
  let isOlder: Bool
  /// `nil` if the log says nothing about the room.
  var logged: LogPosition?
  /// How much it has seen of its recording, which may be over; `nil` if it has none.
  var recorded: RecordedPosition?
  /// Whether the log does not lead on from there.
  var isLost = false
  /// Whether what it has seen last was logged, and not recorded.
  var isLoggedLast = false
  /// A recording that no snapshot mentions, but which says that it follows on something in the log.
  var last: (recording: String, logEnd: LogPosition)?

  /// From where on the recording has to be played that comes before what follows a mark in the log; `nil` if none
  /// does.
  func recording(before mark: LogMark) -> RecordedPosition? {
    guard let end = mark.recorded, !isLost, isAhead(mark) else { return nil }
    if let recorded { return recorded.recording == end.recording ? recorded : nil }
    return mark.after == logged ? RecordedPosition(recording: end.recording) : nil
  }

  private func isAhead(_ mark: LogMark) -> Bool {
    logged.map { mark.position > $0 } ?? (recorded != nil)
  }

  /// Whether what follows a mark in the log is the next that happened in the room.
  mutating func follows(_ mark: LogMark) -> Bool {
    guard isAhead(mark), !isLost else { return false }
    let isNext = mark.session == logged?.session && mark.batch == (logged?.batch ?? 0) + 1
    let continues =
      mark.recorded.map { $0 == recorded } ?? (logged != nil && mark.after == logged)
    guard isNext || continues else {
      isLost = logged != nil
      return false
    }
    logged = mark.position
    isLoggedLast = true
    return true
  }
}
