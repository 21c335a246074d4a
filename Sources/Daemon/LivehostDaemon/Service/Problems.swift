package import ControlInterface
import LiveEvents

/// Something that does not work at present.
package struct PresentFailure: Sendable, Equatable {
  package let reason: String
  /// Milliseconds since 1970.
  package let since: Int
}

// What is wrong besides threads that stand still.

extension SnapshotStore {
  package var problems: [Problem] {
    let failures = failure.map { [Problem(part: "snapshots", text: $0.reason, since: $0.since)] }
    return (failures ?? []) + roomsAside.map(\.problem)
  }
}

extension SnapshotStore.RoomAside {
  fileprivate var problem: Problem {
    Problem(
      part: "state",
      text:
        "set aside, since livehostd died repeatedly while it was restored; its recordings are kept, "
        + "and its state is in \(path): to try again, stop livehostd, rename that to \(restoredPath) and "
        + "start it",
      since: since, room: room)
  }
}

extension RoomRecordings {
  /// Recordings that failed, for rooms that have not recorded again since and are not closed.
  package var problems: [Problem] {
    failures.map { room, failure in
      Problem(
        part: "recording", text: failure.reason, since: failure.since, room: room.description)
    }
  }
}
