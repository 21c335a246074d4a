import ControlInterface
import Foundation
import HostScreen
import JSON

/// The part of a hibernated room that stays in memory. A room hibernates if nothing has happened in
/// it for some time and nobody watches it.
///
/// The state is compressed; there is no store, view, throttle or timer. All events of the room are
/// on disk, so that a crash costs no more than in other rooms.
struct HibernatedRoom {
  let summary: RoomSummary
  let metrics: RoomMetrics
  let sources: [SourceReport]
  let clock: RoomClock
  var life: RoomLifetime.Rest
  /// The log entries since the last snapshot.
  let unsaved: RoomLog.Unsaved
  let state: HibernatedStates.State

  init(
    _ snapshot: RoomSnapshot, _ summary: RoomSummary, _ metrics: RoomMetrics,
    _ sources: [SourceReport], _ clock: RoomClock, _ life: RoomLifetime.Rest,
    _ unsaved: RoomLog.Unsaved, in states: inout HibernatedStates
  ) throws {
    state = states.add(try JSONWriter.text(of: snapshot))
    // The statistics of the views would take more memory than the state, so they are dropped.
    self.metrics = RoomMetrics(
      room: metrics.room, viewers: metrics.viewers, counts: metrics.counts,
      frames: metrics.frames, actionsByFeature: [:], views: [:], effects: metrics.effects)
    (self.summary, self.sources, self.clock) = (summary, sources, clock)
    (self.life, self.unsaved) = (life, unsaved)
  }

  var counts: EventCounts { metrics.counts }

  /// Returns the state of the room as a snapshot.
  func snapshot(in states: HibernatedStates) -> RoomSnapshot {
    do {
      return try JSONDecoder().decode(RoomSnapshot.self, from: Data(states.bytes(of: state)))
    } catch {
      // Continuing without the state would lose it, whereas a restart reads it from disk.
      preconditionFailure(
        "room \(summary.room) cannot be restored from its compressed state: \(error)")
    }
  }
}
