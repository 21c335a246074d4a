import Composable
package import ControlInterface
package import HostScreen
package import Ingest
package import LiveEvents
package import NIOCore
import Platform
package import Recordings
import Synchronization
package import WireFormats

/// One event loop and the rooms that live on it.
///
/// An actor whose executor is the loop: all work for its rooms happens on one thread, and their
/// stores never leave it.
package actor HostLane {
  package nonisolated let index: Int
  package nonisolated let eventLoop: any EventLoop
  package nonisolated let meter: TurnMeter
  nonisolated let faults: FaultInjection
  nonisolated let observer: RoomObserver
  /// Where its rooms have their chats analysed; `nil` on the lane itself.
  nonisolated let work: WorkExecutor?
  private nonisolated let executor: any NIOSerialEventLoopExecutor
  private nonisolated let mailbox: LaneMailbox
  private nonisolated let thread = Atomic<Int32>(0)
  private let snapshots: SnapshotStore?
  private let library: RecordingLibrary?
  nonisolated let recordings: RoomRecordings?
  private let turnLength: TimeAmount
  /// Items from the mailbox that are not done, taken in turn by room, so that one sender's flood delays
  /// only its own room. Part of the first delivery of a room may be done.
  private var backlog = FairQueue<RoomName, LaneMailbox.Item>()
  /// How many events are taken of the deliveries that are partly done.
  private var deliveredCounts: [RoomName: Int] = [:]
  private var rooms: [RoomName: Room] = [:]
  /// Sums over closed rooms.
  private var closed = EventCounts()
  private var timers: [RoomName: (due: NIODeadline, task: Scheduled<Void>)] = [:]
  private var settings: RoomSettings

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

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
    index: Int, eventLoop: any EventLoop & NIOSerialEventLoopExecutor, settings: RoomSettings,
    faults: FaultInjection = FaultInjection(), snapshots: SnapshotStore? = nil,
    library: RecordingLibrary? = nil, recordings: RoomRecordings? = nil,
    work: WorkExecutor? = nil,
    turnLength: TimeAmount = .milliseconds(8),
    onTurn: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil,
    observer: @escaping RoomObserver = { _, _ in }
  ) {
    self.snapshots = snapshots
    self.library = library
    self.recordings = recordings
    self.work = work
    self.turnLength = turnLength
    self.index = index
    self.eventLoop = eventLoop
    self.executor = eventLoop
    self.mailbox = LaneMailbox(eventLoop: eventLoop)
    meter = TurnMeter(onTurn: onTurn) { NIODeadline.now().uptimeNanoseconds }
    self.settings = settings
    self.faults = faults
    self.observer = observer
    eventLoop.execute { self.thread.store(SchedulerTimes.currentThread(), ordering: .relaxed) }
  }

  /// The kernel's number of the lane's thread; 0 until its first turn.
  package nonisolated var threadID: Int32 { thread.load(ordering: .relaxed) }

  // MARK: Events

  /// Hands over events. May be called from any thread; never blocks.
  package nonisolated func post(_ delivery: RoomDelivery) {
    mailbox.post(.delivery(delivery), to: self)
  }

  /// Opens a room, before anything that is posted later. The directory makes sure that its name is
  /// free.
  package nonisolated func postOpening(of room: RoomName, restoring snapshot: RoomSnapshot? = nil) {
    mailbox.post(.open(room, snapshot), to: self)
  }

  /// Closes a room, after everything posted before; held events are applied.
  ///
  /// - Parameters:
  ///   - isForGood: whether its snapshot for the next start is removed as well.
  ///   - completion: gets why the room may come back all the same, if so.
  package nonisolated func postClosing(
    of room: RoomName, isForGood: Bool = true,
    completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    mailbox.post(.close(room, isForGood: isForGood, completion), to: self)
  }

  /// Changes the settings of the lane's rooms and of future ones.
  package nonisolated func postSettings(_ settings: RoomSettings) {
    eventLoop.execute {
      self.assumeIsolated { lane in
        lane.settings = settings
        for room in lane.rooms.values { room.settings = settings }
      }
    }
  }

  /// Tells the rooms that are recorded whether the disk for that answers.
  nonisolated func postDisk(answers: Bool) {
    eventLoop.execute {
      for name in self.assumeIsolated({ Array($0.rooms.keys) }) {
        self.postVisit(to: name) { $0?.noteDisk(answers: answers) }
      }
    }
  }

  /// Runs `body` with a room, after all that was posted before; with nil if there is no such room.
  nonisolated func postVisit(to room: RoomName, _ body: @escaping @Sendable (Room?) -> Void) {
    mailbox.post(.visit(room, body), to: self)
  }

  /// Runs `body` with a room, after all that was posted before, and returns its result.
  nonisolated func visit<R: Sendable>(
    _ room: RoomName, _ body: @escaping @Sendable (Room?) -> R
  ) async -> R {
    await withCheckedContinuation { continuation in
      postVisit(to: room) { continuation.resume(returning: body($0)) }
    }
  }

  /// Returns once a room is kept for the next start, as far as rooms are.
  ///
  /// - Throws: `recordingFailed` if it cannot be.
  nonisolated func save(_ name: RoomName) async throws(ControlError) {
    let failure: String? = await withCheckedContinuation { continuation in
      postVisit(to: name) { room in
        guard let room else { return continuation.resume(returning: nil) }
        room.whenDurable { continuation.resume(returning: $0) }
      }
    }
    if let failure { throw .recordingFailed(room: name.description, reason: failure) }
  }

  /// Takes as much from the mailbox as fits into a turn of the lane.
  func drain() {
    meter.measure {
      let now = NIODeadline.now()
      repeat {
        for item in mailbox.take() { backlog.append(item, for: item.room) }
        guard let item = backlog.first else { break }
        backlog.endTurn(isDone: handle(item, now))
      } while (NIODeadline.now() - now).nanoseconds < turnLength.nanoseconds
    }
    if !backlog.isEmpty || !mailbox.sleep() { mailbox.wake(self) }
  }

  /// Does what an item asks for; returns `false` if part of it is left.
  private func handle(_ item: LaneMailbox.Item, _ now: NIODeadline) -> Bool {
    switch item {
    case .open(let name, let snapshot): open(name, snapshot, now)
    case .close(let name, let isForGood, let completion):
      close(name, isForGood, now, completion)
    case .delivery(let delivery): return receive(delivery, now)
    case .visit(let name, let body):
      body(rooms[name])
      if let room = rooms[name] { saveAndSchedule(room, now) }
    }
    return true
  }

  private func receive(_ delivery: RoomDelivery, _ now: NIODeadline) -> Bool {
    guard let room = rooms[delivery.room] else {
      refuse(delivery)
      return true
    }
    let rest = room.receive(
      delivery, from: deliveredCounts.removeValue(forKey: delivery.room) ?? 0, now: now)
    deliveredCounts[delivery.room] = rest
    saveAndSchedule(room, now)
    return rest == nil
  }

  /// Rejects a delivery whose room was closed before it arrived.
  private func refuse(_ delivery: RoomDelivery) {
    closed.add(delivery.rejections)
    closed.reject(.roomClosed, delivery.events.count)
    delivery.receipt.markRejected(delivery.events.count)
    delivery.receipt.markApplied()
  }

  /// Saves a room that has changed, if a snapshot is due, and schedules its next turn.
  private func saveAndSchedule(_ room: Room, _ now: NIODeadline) {
    room.saveIfDue(now: now)
    schedule(room)
  }

  /// Sets the room's timer for its next frame or snapshot, unless it is set for an earlier time.
  private func schedule(_ room: Room) {
    guard let due = [room.nextFrame, room.nextSave].compactMap(\.self).min() else { return }
    if let timer = timers[room.name] {
      guard due < timer.due else { return }
      timer.task.cancel()
    }
    let name = room.name
    let task = eventLoop.scheduleTask(deadline: due) { self.assumeIsolated { $0.frame(name) } }
    timers[name] = (due, task)
  }

  private func frame(_ name: RoomName) {
    timers[name] = nil
    guard let room = rooms[name] else { return }
    meter.measure {
      let now = NIODeadline.now()
      room.advance(to: now)
      room.saveIfDue(now: now)
    }
    schedule(room)
  }

  // MARK: Rooms

  private func open(_ name: RoomName, _ snapshot: RoomSnapshot?, _ now: NIODeadline) {
    var keeper: SnapshotSchedule?
    if let snapshots, let library {
      keeper = SnapshotSchedule(
        snapshots, library, room: name.description,
        visit: { [weak self] body in
          if let self { postVisit(to: name, body) } else { body(nil) }
        })
      keeper?.position = snapshot?.log
      library.keep(name.description) { [weak self] in
        self?.postVisit(to: name) { $0?.keeper?.request(at: .now()) }
      }
    }
    let room = Room(
      name: name, on: self, settings: settings, now: now, restoring: snapshot, keeper: keeper)
    room.screen.store.onEffectActions = { [weak self] in
      self?.assumeIsolated { lane in
        guard let room = lane.rooms[name] else { return }
        room.log?.handOver()
        lane.saveAndSchedule(room, .now())
      }
    }
    rooms[name] = room
    // A room outlives a restart even if nothing ever happens in it.
    if snapshot == nil { room.beginLog(opened: WallClock.milliseconds()) }
  }

  private func close(
    _ name: RoomName, _ isForGood: Bool, _ now: NIODeadline,
    _ completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    timers.removeValue(forKey: name)?.task.cancel()
    guard let room = rooms.removeValue(forKey: name) else { return completion(nil) }
    if isForGood || room.keeper == nil {
      room.finish()
      room.endMonitors()
      if let recording = room.takeRecording() { recordings?.roomClosed(name, recording) }
      room.forget(completion)
    } else {
      room.suspend(now: now)
      if let ended = room.endRecording() { recordings?.roomSuspended(name, ended.recorder) }
      completion(nil)
    }
    closed.add(room.counts)
  }

  // MARK: Reading

  /// Reads from a room; `nil` if there is no such room. The hang monitor calls this activity a
  /// report.
  func read<R>(_ name: RoomName, _ body: (Room) -> R) -> R? {
    guard let room = rooms[name] else { return nil }
    return meter.measure {
      meter.activity.begin(.report, in: name)
      return body(room)
    }
  }

  /// A room as `GetRoom` describes it, put together where the caller runs.
  ///
  /// - Parameter features: those to report; nil means all of them.
  package nonisolated func report(
    _ name: RoomName, features: Set<Feature>? = nil
  ) async -> RoomReport? {
    await read(name) { $0.read(features) }.map(RoomReport.init)
  }

  /// The sources of a room; `nil` if there is no such room.
  package func sources(of name: RoomName) -> [SourceReport]? { read(name) { $0.sources } }

  /// The sources of each room that has some.
  package func sources() -> [String: [SourceReport]] {
    rooms.reduce(into: [:]) { all, room in
      let sources = room.value.sources
      if !sources.isEmpty { all[room.key.description] = sources }
    }
  }

  /// The newest batch that a room holds, by source; `nil` if there is no such room.
  package func positions(of name: RoomName) -> [String: Int]? { read(name) { $0.known.positions } }

  /// Why a view of a room was evaluated; `nil` if there is no such room.
  package func explain(_ view: String, of name: RoomName) throws(ControlError) -> Explanation? {
    guard let explanation = read(name, { $0.explain(view) }) else { return nil }
    guard let explanation else { throw .noSuchView(room: name.description, view: view) }
    return explanation
  }

  /// The states of a room for its monitors, and those of its screen.
  package func feeds(_ name: RoomName) -> (room: RoomFeed, screen: RoomFeed)? {
    rooms[name].map { ($0.feed, $0.screenFeed) }
  }

  /// What metrics say about the rooms.
  package func metrics() -> [RoomMetrics] { rooms.keys.compactMap { read($0) { $0.metrics() } } }

  package func summaries() -> [RoomSummary] { rooms.values.map { $0.summary() } }

  /// The totals of the rooms of this lane, including closed ones.
  package func counts() -> EventCounts {
    rooms.values.reduce(into: closed) { $0.add($1.counts) }
  }

  // MARK: Acting

  /// Performs an act of a room's host. Returns once it is applied or, where a surface was asked, once it has
  /// an outcome; and, in a room that is recorded or kept, once that is on disk, or with `recordingFailed` if it
  /// cannot be.
  ///
  /// - Parameters:
  ///   - position: the batch of a source that the act is; a room that has it only replies.
  ///   - taken: called once the act is applied, or is not to be.
  package nonisolated func act(
    _ act: LiveEvent.Payload, in name: RoomName, at position: BatchPosition? = nil,
    taken: @escaping @Sendable () -> Void = {}
  ) async -> Result<HostReply, ControlError> {
    await withCheckedContinuation { continuation in
      postVisit(to: name) { room in
        guard let room else {
          return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
        }
        defer { taken() }
        if let position, !room.take(position) {
          return room.whenDurable {
            continuation.resume(
              returning: Self.result(.success(HostReply()), unless: $0, of: name))
          }
        }
        let earlier = room.request(of: act)
        let result = room.act(act)
        if let request = room.request(of: act), request != earlier {
          // By another visit: the outcome comes in the middle of an action.
          return room.requestWaiters.whenEnded(request) { outcome in
            self.postVisit(to: name) { room in
              guard let room else {
                return continuation.resume(returning: .failure(.noSuchRoom(name.description)))
              }
              let reply = room.reply(to: act, outcome)
              room.whenDurable {
                continuation.resume(returning: Self.result(.success(reply), unless: $0, of: name))
              }
            }
          }
        }
        room.whenReviewed { room in
          let result = result.map { room.counted($0) }
          room.whenDurable {
            continuation.resume(returning: Self.result(result, unless: $0, of: name))
          }
        }
      }
    }
  }

  /// The result of an act; or why it is not kept, though it is done.
  private static func result(
    _ result: Result<HostReply, ControlError>, unless failure: String?, of room: RoomName
  ) -> Result<HostReply, ControlError> {
    guard let failure, case .success = result else { return result }
    return .failure(.recordingFailed(room: room.description, reason: failure))
  }
}
