import ControlInterface
import Foundation
import HostScreen
import JSON

/// What remains in memory of a room that hibernates: nothing has happened in it for some time, and
/// nobody watches it.
///
/// Its state is compressed. It has no store, no views, no throttles and no timer. Everything that
/// happened in it is on disk, so that a crash costs no more than in other rooms.
struct HibernatedRoom {
  let summary: RoomSummary
  let metrics: RoomMetrics
  let sources: [SourceReport]
  let clock: RoomClock
  var life: RoomLifetime.Rest
  /// What was logged since the last snapshot.
  let unsaved: RoomLog.Unsaved
  let state: HibernatedStates.State

  init(
    _ snapshot: RoomSnapshot, _ summary: RoomSummary, _ metrics: RoomMetrics,
    _ sources: [SourceReport], _ clock: RoomClock, _ life: RoomLifetime.Rest,
    _ unsaved: RoomLog.Unsaved, in states: inout HibernatedStates
  ) throws {
    state = states.add(try JSONWriter.text(of: snapshot))
    // The numbers of its views would take more memory than the state.
    self.metrics = RoomMetrics(
      room: metrics.room, viewers: metrics.viewers, counts: metrics.counts,
      frames: metrics.frames, actionsByFeature: [:], views: [:], effects: metrics.effects)
    (self.summary, self.sources, self.clock) = (summary, sources, clock)
    (self.life, self.unsaved) = (life, unsaved)
  }

  var counts: EventCounts { metrics.counts }

  /// The room as it was.
  func snapshot(in states: HibernatedStates) -> RoomSnapshot {
    do {
      return try JSONDecoder().decode(RoomSnapshot.self, from: Data(states.bytes(of: state)))
    } catch {
      // To continue without the state would lose it, while the next start has it from the disk.
      preconditionFailure("room \(summary.room) cannot be unpacked: \(error)")
    }
  }
}
