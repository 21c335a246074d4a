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
    failure.map { [Problem(part: "snapshots", text: $0.reason, since: $0.since)] } ?? []
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
