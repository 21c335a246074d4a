package import ControlInterface
import LiveEvents
import Rooms
import SystemSupport

// The problems that `GetStatus` reports, other than stalled threads.

extension SnapshotStore {
  package var problems: [Problem] {
    let failures = failure.map { [Problem(part: "snapshots", text: $0.reason, since: $0.since)] }
    return (failures ?? []) + losses + roomsAside.map(\.problem)
  }
}

extension SnapshotStore.RoomAside {
  fileprivate var problem: Problem {
    Problem(
      part: "state",
      text:
        "set aside because livehostd died repeatedly while restoring it; the recordings and the "
        + "write-ahead log are kept, and the state is in \(path); to retry, stop livehostd, rename "
        + "that file to \(restoredPath) and start livehostd",
      since: since, room: room)
  }
}

extension RoomRecordings {
  /// The failed recordings of open rooms, and a failure to write the write-ahead log.
  ///
  /// The failure of a room is removed once the room records again or is closed.
  package var problems: [Problem] {
    let recordings = failures.map { room, failure in
      Problem(
        part: "recording", text: failure.reason, since: failure.since, room: room.description)
    }
    let log = logFailure.map {
      Problem(part: "log", text: $0.reason, since: $0.since)
    }
    return recordings + (log.map { [$0] } ?? [])
  }
}
