import Composable
import ControlInterface
import HostScreen
package import Ingest
package import LiveEvents
package import NIOCore
import Platform
package import Recordings
import Synchronization

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
  /// Takes turns with the mailbox's list, so that neither grows anew in each turn of the lane; empty between its uses.
  private var posted: [LaneMailbox.Item] = []
  /// A list that has held more gives its memory back.
  private static let keptItems = 4_096
  /// How many events are taken of the deliveries that are partly done.
  private var deliveredCounts: [RoomName: Int] = [:]
  private(set) var rooms: [RoomName: Room] = [:]
  /// The rooms that are idle.
  private(set) var packed = PackedRooms()
  /// Looks for rooms that can be packed; `nil` while there are none to look at.
  private var packing: Scheduled<Void>?
  /// How often memory is yet to be given back to the system: twice after the last room was packed, since what holds a
  /// room may end a little later.
  private var trimsLeft = 0
  /// Sums over closed rooms.
  private(set) var closed = EventCounts()
  /// When the rooms are due; one is due in a millisecond only if that is its ``Room/due``.
  private var dueTimes = DueTimes<Room>()
  /// The timer for the first of them, and its millisecond.
  private var timer: (slot: Int64, task: Scheduled<Void>)?
  private var settings: RoomSettings
  /// Has a room saved, so that the log can be cut; one for all rooms.
  private lazy var onSnapshotDue: @Sendable (String) -> Void = { [weak self] name in
    if let self, let room = RoomName(name) { mailbox.post(.save(room), to: self) }
  }

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
        lane.schedulePacking()
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
        mailbox.take(into: &posted)
        for item in posted { backlog.append(item, for: item.room) }
        posted.removeAll(keepingCapacity: posted.count < Self.keptItems)
        guard let item = backlog.takeFirst() else { break }
        backlog.endTurn(leaving: handle(item, now) ? nil : item)
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
      body(room(named: name, now))
      if let room = rooms[name] { saveAndSchedule(room, now) }
    case .pack(let name, let position): pack(name, after: position, now)
    case .save(let name): saveForLog(name, now)
    }
    return true
  }

  /// An open room, which is unpacked if it was idle.
  func room(named name: RoomName, _ now: NIODeadline) -> Room? {
    let room = rooms[name] ?? unpack(name, now)
    room?.lastUse = now
    return room
  }

  private func receive(_ delivery: RoomDelivery, _ now: NIODeadline) -> Bool {
    guard let room = room(named: delivery.room, now) else {
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
    let save = room.nextSave
    guard let frame = room.nextFrame ?? save else { return }
    let due = min(frame, save ?? frame)
    let slot = DueTimes<Room>.slot(of: due.machineTime)
    if let earlier = room.due, earlier <= slot { return }
    room.due = slot
    dueTimes.add(room, at: slot)
    setTimer()
  }

  private func setTimer() {
    guard let slot = dueTimes.first else { return }
    if let timer {
      guard slot < timer.slot else { return }
      timer.task.cancel()
    }
    let task = eventLoop.scheduleTask(
      deadline: .uptimeNanoseconds(UInt64(max(0, slot)) * 1_000_000)
    ) {
      self.assumeIsolated { $0.drawDueRooms() }
    }
    timer = (slot, task)
  }

  /// Draws and saves the rooms that are due, as many as fit into a turn of the lane.
  private func drawDueRooms() {
    timer = nil
    let start = NIODeadline.now()
    var now = start
    while let (slot, room) = dueTimes.popFirst(by: now.machineTime / 1_000_000) {
      // Otherwise it was due earlier, or is gone.
      guard room.due == slot else { continue }
      room.due = nil
      meter.measure {
        room.advance(to: now)
        room.saveIfDue(now: now)
      }
      schedule(room)
      now = .now()
      if (now - start).nanoseconds >= turnLength.nanoseconds { break }
    }
    setTimer()
  }

  // MARK: Rooms

  private func open(_ name: RoomName, _ snapshot: RoomSnapshot?, _ now: NIODeadline) {
    var keeper = keeper(of: RoomLifetime(name.description))
    keeper?.position = snapshot?.log
    if keeper != nil {
      library?.keep(name.description, onSnapshotDue: onSnapshotDue)
    }
    let room = make(name, restoring: snapshot, keeper, now)
    rooms[name] = room
    // A room outlives a restart even if nothing ever happens in it.
    if snapshot == nil { room.beginLog(opened: WallClock.milliseconds()) }
    schedulePacking()
  }

  private func keeper(of room: RoomLifetime) -> SnapshotSchedule? {
    guard let snapshots, let library, let name = RoomName(room.name) else { return nil }
    return SnapshotSchedule(
      snapshots, library, room: room,
      visit: { [weak self] body in
        if let self { postVisit(to: name, body) } else { body(nil) }
      })
  }

  private func make(
    _ name: RoomName, restoring snapshot: RoomSnapshot?, _ keeper: SnapshotSchedule?,
    _ now: NIODeadline
  ) -> Room {
    let room = Room(
      name: name, on: self, settings: settings, now: now, restoring: snapshot, keeper: keeper)
    room.screen.store.onEffectActions = { [weak self] in
      self?.assumeIsolated { lane in
        guard let room = lane.rooms[name] else { return }
        room.log?.handOver()
        lane.saveAndSchedule(room, .now())
      }
    }
    return room
  }

  /// Saves a room, so that the log can be cut.
  private func saveForLog(_ name: RoomName, _ now: NIODeadline) {
    if let room = rooms[name] {
      room.keeper?.request(at: now)
      return saveAndSchedule(room, now)
    }
    // Not unpacked for that: many may be asked for at once.
    guard let snapshots, let library, let saving = packed.saving(name) else { return }
    library.noteSaving(name.description)
    snapshots.post(saving.snapshot, saving.number, of: saving.lifetime) { isWritten in
      library.noteSaved(name.description, isWritten: isWritten)
    }
  }

  private func close(
    _ name: RoomName, _ isForGood: Bool, _ now: NIODeadline,
    _ completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    if !isForGood, let counts = packed.drop(name) {
      closed.add(counts)
      return completion(nil)
    }
    guard let room = room(named: name, now) else { return completion(nil) }
    rooms[name] = nil
    room.due = nil
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

  // MARK: Idle rooms

  /// How many rooms are packed.
  package var packedCount: Int { packed.count }

  /// Has the lane look for idle rooms in a while, if there are rooms that may be.
  private func schedulePacking() {
    guard packing == nil, let idle = settings.packsAfter, !rooms.isEmpty || trimsLeft > 0
    else { return }
    let nanoseconds = TimeAmount(idle).nanoseconds / 4
    let delay = TimeAmount.nanoseconds(min(max(nanoseconds, 500_000_000), 60_000_000_000))
    packing = eventLoop.scheduleTask(in: delay) { [weak self] in
      self?.assumeIsolated { $0.lookForIdleRooms() }
    }
  }

  /// The most rooms that are looked through at once, and then packed one by one.
  private static let packedAtOnce = 4_096

  private func lookForIdleRooms() {
    packing = nil
    meter.measure {
      let now = NIODeadline.now()
      let idle = rooms.values.filter { isIdle($0, now) }
      let first = idle.filter(\.canBePacked)
        .sorted { ($0.lastUse, $0.name) < ($1.lastUse, $1.name) }.prefix(Self.packedAtOnce)
      if let recorder = first.first?.log?.recorder {
        // All of them are on disk by then, with what they did last: the log is one.
        let ends = first.map { ($0.name, $0.log?.logged) }
        recorder.whenSynced { [self] in
          for case (let name, let end?) in ends { mailbox.post(.pack(name, after: end), to: self) }
        }
      }
      // The next start would have much to repeat.
      for room in idle where room.log?.isShort == false {
        room.keeper?.request(at: now)
        saveAndSchedule(room, now)
      }
    }
    if trimsLeft > 0 {
      trimsLeft -= 1
      // Not here: the allocator is locked while it looks through the memory of many rooms.
      snapshots?.ping(FreeMemory.giveBack)
    }
    schedulePacking()
  }

  private func isIdle(_ room: Room, _ now: NIODeadline) -> Bool {
    settings.packsAfter.map { now >= room.lastUse + TimeAmount($0) } ?? false
  }

  private func pack(_ name: RoomName, after end: LogPosition, _ now: NIODeadline) {
    guard let room = rooms[name], isIdle(room, now), room.canBePacked, room.log?.logged == end,
      packed.add(room, now: now)
    else { return }
    room.due = nil
    rooms[name] = nil
    trimsLeft = 2
    observer(name, .packed)
  }

  private func unpack(_ name: RoomName, _ now: NIODeadline) -> Room? {
    guard let (idle, snapshot) = packed.take(name) else { return nil }
    let keeper = keeper(of: RoomLifetime(name.description, idle.life))
    let room = make(name, restoring: snapshot, keeper, now)
    room.unpack(idle, now: now)
    rooms[name] = room
    observer(name, .unpacked)
    saveAndSchedule(room, now)
    schedulePacking()
    return room
  }
}
