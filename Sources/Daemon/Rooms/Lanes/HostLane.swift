package import ControlInterface
import HostScreen
package import Ingest
package import LiveEvents
package import NIOCore
package import Recordings
import Synchronization
import SystemSupport

/// An event loop and the rooms that it owns.
///
/// Events, acts of the host, calls and reads are messages in the lane's mailbox, posted from any
/// thread. The messages of a room are processed in the order in which they were posted. Rooms take
/// turns, so that a flood of events delays only its own room; messages that concern the whole lane
/// share one turn.
package final class HostLane: Sendable {
  package let index: Int
  package let eventLoop: any EventLoop
  package let meter: TurnMeter
  let faults: FaultInjection
  let observer: RoomObserver
  /// Runs the chat analyses of the lane's rooms; `nil` runs them on the lane itself.
  package let work: WorkExecutor?
  let recordings: RoomRecordings?
  private let mailbox = LaneMailbox()
  private let thread = Atomic<Int32>(0)
  /// The lane's rooms, created in the lane's first turn.
  private let rooms: NIOLoopBoundBox<LaneRooms?>

  /// - Parameters:
  ///   - observer: notified on the lane of changes to its rooms, such as hibernation.
  ///   - onTurn: called on the lane with the length of each turn.
  ///   - snapshots: saves states; with `library`, makes rooms survive a restart.
  ///   - library: keeps the write-ahead log of the rooms.
  ///   - recordings: makes recordings; nil means that rooms have no recorder.
  ///   - turnLength: how long a turn processes messages from the mailbox; by default half a frame.
  ///     Other messages wait for the next turn, after timers that are due.
  package init(
    index: Int, eventLoop: any EventLoop, settings: RoomSettings,
    faults: FaultInjection = FaultInjection(), snapshots: SnapshotStore? = nil,
    library: RecordingLibrary? = nil, recordings: RoomRecordings? = nil,
    work: WorkExecutor? = nil,
    turnLength: TimeAmount = .milliseconds(8),
    onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil,
    observer: @escaping RoomObserver = { _, _ in }
  ) {
    self.recordings = recordings
    self.work = work
    self.index = index
    self.eventLoop = eventLoop
    meter = TurnMeter(onTurn: onTurn) { NIODeadline.now().uptimeNanoseconds }
    self.faults = faults
    self.observer = observer
    rooms = .makeEmptyBox(eventLoop: eventLoop)
    eventLoop.execute { [self, mailbox] in
      thread.store(SchedulerTimes.currentThread(), ordering: .relaxed)
      rooms.value = LaneRooms(
        on: self, mailbox, settings: settings, snapshots: snapshots, library: library,
        turnLength: turnLength)
    }
  }

  /// The kernel's identifier of the lane's thread; 0 until the lane's first turn.
  package var threadID: Int32 { thread.load(ordering: .relaxed) }

  private func post(_ item: LaneMailbox.Item) { if mailbox.post(item) { wake() } }

  /// Makes the lane process its mailbox in a new turn.
  func wake() { eventLoop.execute { self.rooms.value?.drain() } }

  /// Posts events of a room. May be called from any thread; never blocks.
  package func post(_ delivery: RoomDelivery) { post(.delivery(delivery)) }

  /// Posts the opening of a room, before all messages for it. The caller ensures that its name is
  /// free.
  package func postOpening(of room: RoomName, restoring snapshot: RoomSnapshot? = nil) {
    post(.open(room, snapshot))
  }

  /// Posts the closing of a room, after all earlier messages for it. Held events are applied first.
  ///
  /// - Parameters:
  ///   - isForGood: whether the room's snapshot is removed.
  ///   - completion: receives the reason if the next start may restore the room nevertheless.
  package func postClosing(
    of room: RoomName, isForGood: Bool = true,
    completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    post(.close(room, isForGood: isForGood, completion))
  }

  package func postSettings(_ settings: RoomSettings) { post(.survey { $0.apply(settings) }) }

  /// Informs all open rooms whether the disk with the recordings responds.
  func postDisk(answers: Bool) {
    post(
      .survey { rooms in
        for name in rooms.open.keys {
          rooms.lane.postVisit(to: name) { $0?.showDisk(answers: answers) }
        }
      })
  }

  /// Requests a snapshot of a room, so that older segments of the log can be removed.
  func postSaving(of room: RoomName) { post(.save(room)) }

  /// Hibernates a room if the newest log sequence of the room is still `sequence`.
  func postHibernation(of room: RoomName, after sequence: Int) {
    post(.hibernate(room, after: sequence))
  }

  /// Calls `body` with a room, after everything posted for it earlier; with nil if the room is not
  /// open.
  func postVisit(to room: RoomName, _ body: @escaping @Sendable (Room?) -> Void) {
    post(.visit(room, body))
  }

  /// Calls `body` with a room, after everything posted for it earlier, and returns the result.
  package func visit<R: Sendable>(
    _ room: RoomName, _ body: @escaping @Sendable (Room?) -> R
  ) async -> R {
    await withCheckedContinuation { continuation in
      postVisit(to: room) { continuation.resume(returning: body($0)) }
    }
  }

  /// Calls `body` with all of the lane's rooms, and returns the result.
  func survey<R: Sendable>(_ body: @escaping @Sendable (LaneRooms) -> R) async -> R {
    await withCheckedContinuation { continuation in
      post(.survey { continuation.resume(returning: body($0)) })
    }
  }

  /// Returns once everything that happened in a logged or recorded room is on disk. Throws
  /// `recordingFailed` if writing fails.
  package func save(_ name: RoomName) async throws(ControlError) {
    let failure: String? = await withCheckedContinuation { continuation in
      postVisit(to: name) { room in
        guard let room else { return continuation.resume(returning: nil) }
        room.whenDurable { continuation.resume(returning: $0) }
      }
    }
    if let failure { throw .recordingFailed(room: name.description, reason: failure) }
  }
}
