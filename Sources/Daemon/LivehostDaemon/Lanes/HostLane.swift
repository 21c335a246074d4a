import ControlInterface
import HostScreen
package import Ingest
package import LiveEvents
package import NIOCore
package import Recordings
import Synchronization
import SystemSupport

/// One event loop and the rooms that live on it.
///
/// There is one way in: a message in the lane's mailbox. Whatever is posted for a room (events,
/// acts of the host, calls and reads, from any thread) is done in the order in which it was posted.
/// Rooms take turns, so that a flood delays its own room only; what concerns the lane as a whole
/// takes its turn like a room.
package final class HostLane: Sendable {
  package let index: Int
  package let eventLoop: any EventLoop
  package let meter: TurnMeter
  let faults: FaultInjection
  let observer: RoomObserver
  /// Where its rooms have their chats analysed; `nil` on the lane itself.
  let work: WorkExecutor?
  let recordings: RoomRecordings?
  private let mailbox = LaneMailbox()
  private let thread = Atomic<Int32>(0)
  /// Set by the first turn.
  private let rooms: NIOLoopBoundBox<LaneRooms?>

  /// - Parameters:
  ///   - observer: notified of what happens to the lane's rooms, on the lane.
  ///   - onTurn: called with the length of each turn, on the lane.
  ///   - snapshots: where rooms are kept for the next start, and
  ///   - library: what keeps their log; without either of them none is kept.
  ///   - recordings: makes recordings of the rooms; without it they have no recorder.
  ///   - work: where the chats of its rooms are analysed; on the lane itself without it.
  ///   - turnLength: how long one turn takes items from the mailbox: half a frame. The rest is left
  ///     for the next turn, after timers that are due.
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

  /// The kernel's number of the lane's thread; 0 until its first turn.
  package var threadID: Int32 { thread.load(ordering: .relaxed) }

  private func post(_ item: LaneMailbox.Item) { if mailbox.post(item) { wake() } }

  /// Has the lane take what was posted, in a turn of its own.
  func wake() { eventLoop.execute { self.rooms.value?.drain() } }

  /// Hands over events. May be called from any thread; never blocks.
  package func post(_ delivery: RoomDelivery) { post(.delivery(delivery)) }

  /// Opens a room, before anything that is posted later. The directory makes sure that its name is
  /// free.
  package func postOpening(of room: RoomName, restoring snapshot: RoomSnapshot? = nil) {
    post(.open(room, snapshot))
  }

  /// Closes a room, after everything posted before; held events are applied.
  ///
  /// - Parameters:
  ///   - isForGood: whether its snapshot for the next start is removed as well.
  ///   - completion: gets why the room may come back all the same, if so.
  package func postClosing(
    of room: RoomName, isForGood: Bool = true,
    completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    post(.close(room, isForGood: isForGood, completion))
  }

  /// Changes the settings of the lane's rooms and of future ones.
  package func postSettings(_ settings: RoomSettings) { post(.survey { $0.apply(settings) }) }

  /// Tells the rooms that are recorded whether the disk for that answers.
  func postDisk(answers: Bool) {
    post(
      .survey { rooms in
        for name in rooms.open.keys {
          rooms.lane.postVisit(to: name) { $0?.showDisk(answers: answers) }
        }
      })
  }

  /// Has a room saved, so that the log can be cut.
  func postSaving(of room: RoomName) { post(.save(room)) }

  /// Packs a room, unless something has happened in it behind a log sequence.
  func postHibernation(of room: RoomName, after sequence: Int) {
    post(.pack(room, after: sequence))
  }

  /// Runs `body` with a room, after all that was posted for it before; with nil if there is no such
  /// room.
  func postVisit(to room: RoomName, _ body: @escaping @Sendable (Room?) -> Void) {
    post(.visit(room, body))
  }

  /// Runs `body` with a room, after all that was posted for it before, and returns its result.
  func visit<R: Sendable>(
    _ room: RoomName, _ body: @escaping @Sendable (Room?) -> R
  ) async -> R {
    await withCheckedContinuation { continuation in
      postVisit(to: room) { continuation.resume(returning: body($0)) }
    }
  }

  /// Runs `body` with all of the lane's rooms, and returns its result.
  func survey<R: Sendable>(_ body: @escaping @Sendable (LaneRooms) -> R) async -> R {
    await withCheckedContinuation { continuation in
      post(.survey { continuation.resume(returning: body($0)) })
    }
  }

  /// Returns once a room is kept for the next start, as far as rooms are.
  ///
  /// - Throws: `recordingFailed` if it cannot be.
  func save(_ name: RoomName) async throws(ControlError) {
    let failure: String? = await withCheckedContinuation { continuation in
      postVisit(to: name) { room in
        guard let room else { return continuation.resume(returning: nil) }
        room.whenDurable { continuation.resume(returning: $0) }
      }
    }
    if let failure { throw .recordingFailed(room: name.description, reason: failure) }
  }
}
