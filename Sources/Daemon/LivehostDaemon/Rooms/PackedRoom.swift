import ChatFeature
import Composable
import ControlInterface
import Foundation
import HostFeature
import HostScreen
import JSON
import LiveEvents
import NIOCore
import Recordings
import ViewGraph

/// A room in which nothing has happened for some time and that nobody watches, as it waits in memory: its state is
/// compressed, and it has no store, no views, no throttles and no timer.
///
/// All that happened in it is on disk, so whatever ends the process costs no more than in a room that is not packed.
struct PackedRoom {
  let summary: RoomSummary
  let metrics: RoomMetrics
  let sources: [SourceReport]
  let clock: RoomClock
  var life: RoomLifetime.Rest
  /// What was logged since the last snapshot.
  let unsaved: RoomLog.Unsaved
  let state: PackedStates.State

  fileprivate init(
    _ room: Room, _ log: RoomLog, _ lifetime: RoomLifetime, in states: inout PackedStates,
    now: NIODeadline
  ) throws {
    let snapshot = room.snapshot(now: now)
    state = states.add(try JSONWriter.text(of: snapshot))
    summary = room.summary()
    // The views' own numbers would take more than the state.
    metrics = RoomMetrics(
      room: summary.room, viewers: summary.viewers, counts: room.counts,
      frames: Int(room.screen.views.frames), actionsByFeature: [:], views: [:],
      effects: Int(room.screen.store.startedEffects))
    sources = room.sources
    clock = room.clock
    (unsaved, life) = (log.unsaved, lifetime.rest)
  }

  var counts: EventCounts { metrics.counts }

  /// The room as it was.
  func snapshot(in states: PackedStates) -> RoomSnapshot {
    do {
      return try JSONDecoder().decode(RoomSnapshot.self, from: Data(states.bytes(of: state)))
    } catch {
      // To go on without the state would lose it, while the next start has it from the disk.
      preconditionFailure("room \(summary.room) cannot be unpacked: \(error)")
    }
  }
}

extension Room {
  /// Whether there is nothing but the state that would be missed, and all of that is on disk or about to be.
  var canBePacked: Bool {
    guard let log, !isRecording, log.isShort, log.writer.failure == nil, pausedRecording == nil,
      saving == nil, keeper?.isIdle == true,
      !isRestoring, replayOffset == nil, !known.isReplaying, waiting.isEmpty,
      waitingForReview.isEmpty, screen.counts.pending == 0, nextFrame == nil,
      !feed.hasMonitors, !screenFeed.hasMonitors, requests.surfaces.isEmpty,
      screen.store.runningEffects == 0
    else { return false }
    return !hasRequests && !isRecorderUnfinished
      && screen.store.state.chat?.isAnalysing != true
  }

  /// Ends the room in favour of what is left of it. `nil` if that cannot be written down.
  func pack(into states: inout PackedStates, now: NIODeadline) -> PackedRoom? {
    guard let log, let lifetime = keeper?.room,
      let packed = try? PackedRoom(self, log, lifetime, in: &states, now: now)
    else { return nil }
    log.writer.end()
    // For whoever got hold of them just before, and has not begun to watch.
    feed.abandon()
    screenFeed.abandon()
    return packed
  }

  /// Lets the room, which was made from what was left of it, go on where it was.
  func unpack(_ packed: PackedRoom, now: NIODeadline) {
    isRestoring = false
    isDriven = true
    clock = packed.clock
    clock.advance(to: clock.time(machine: now.machineTime))
    if screen.store.state.chatHistory != settings.chatHistory {
      screen.send(.historyLimited(settings.chatHistory))
    }
    analyseChat(settings.analysesChat)
    beginLog()
    log?.unsaved.add(packed.unsaved)
  }
}
