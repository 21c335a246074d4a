package import ControlInterface
import LiveEvents
import Platform

// What is wrong besides threads that stand still.

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
        "set aside, since livehostd died repeatedly while it was restored; its recordings are kept, so is "
        + "the log, and its state is in \(path): to try again, stop livehostd, rename that to "
        + "\(restoredPath) and start it",
      since: since, room: room)
  }
}

extension RoomRecordings {
  /// Recordings that failed, for rooms that have not recorded again since and are not closed, and the log if it
  /// cannot be written.
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
