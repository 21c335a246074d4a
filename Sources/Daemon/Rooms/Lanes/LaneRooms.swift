import Composable
import HostScreen
import Ingest
import LiveEvents
import NIOCore
import Recordings
import SystemSupport

/// The rooms of a lane. Confined to the lane's event loop.
final class LaneRooms {
  unowned let lane: HostLane
  private let mailbox: LaneMailbox
  private let snapshots: SnapshotStore?
  private let library: RecordingLibrary?
  private let turnLength: TimeAmount
  /// Unprocessed messages, served alternately by room, so that one sender's flood delays only its
  /// own room. The first delivery of a room may be partly processed.
  private var backlog = FairQueue<RoomName?, LaneMailbox.Item>()
  /// An empty list that is swapped with the mailbox's list in each turn, so that both lists keep
  /// their memory.
  private var posted: [LaneMailbox.Item] = []
  /// A list with at least this many items releases its memory after use.
  private static let reusableItems = 4_096
  /// For each delivery that is partly processed, the number of events applied so far.
  private var deliveredCounts: [RoomName: Int] = [:]
  /// The rooms that are not hibernated.
  private(set) var open: [RoomName: Room] = [:]
  private(set) var hibernated = HibernatedRooms()
  /// The timer of the next search for rooms to hibernate; `nil` if there are no candidates.
  private var hibernationSearch: Scheduled<Void>?
  /// The number of times that free memory will still be returned to the system. This happens twice
  /// after the last hibernation, because references to the room may be released a little later.
  private var trimsLeft = 0
  private(set) var closed = EventCounts()
  /// The times at which rooms are due. An entry is outdated if its millisecond is not the one in
  /// the room's ``Room/turn``.
  private var dueTimes = DueTimes<Room>()
  /// The timer for the earliest entry of `dueTimes`, and its millisecond.
  private var timer: (slot: Int64, task: Scheduled<Void>)?
  private var settings: RoomSettings
  /// Requests a snapshot of a room, so that older segments of the log can be removed.
  private let onSnapshotDue: @Sendable (String) -> Void

  init(
    on lane: HostLane, _ mailbox: LaneMailbox, settings: RoomSettings, snapshots: SnapshotStore?,
    library: RecordingLibrary?, turnLength: TimeAmount
  ) {
    self.lane = lane
    self.mailbox = mailbox
    self.settings = settings
    self.snapshots = snapshots
    self.library = library
    self.turnLength = turnLength
    onSnapshotDue = { [weak lane] name in
      if let room = RoomName(name) { lane?.postSaving(of: room) }
    }
  }

  func apply(_ settings: RoomSettings) {
    self.settings = settings
    for room in open.values { room.settings = settings }
    scheduleHibernation()
  }

  /// Processes messages until the turn's time is used up or none is left.
  func drain() {
    lane.meter.measure {
      let now = NIODeadline.now()
      repeat {
        mailbox.swapItems(with: &posted)
        for item in posted { backlog.append(item, for: item.room) }
        posted.removeAll(keepingCapacity: posted.count < Self.reusableItems)
        guard let item = backlog.removeFirst() else { break }
        backlog.endTurn(leaving: handle(item, now) ? nil : item)
      } while (NIODeadline.now() - now).nanoseconds < turnLength.nanoseconds
    }
    if !backlog.isEmpty || !mailbox.sleep() { lane.wake() }
  }

  /// Processes a message; returns `false` if part of it is left.
  private func handle(_ item: LaneMailbox.Item, _ now: NIODeadline) -> Bool {
    switch item {
    case .open(let name, let snapshot): begin(name, snapshot, now)
    case .close(let name, let isForGood, let completion):
      close(name, isForGood, now, completion)
    case .delivery(let delivery): return receive(delivery, now)
    case .visit(let name, let body):
      body(room(named: name, now))
      if let room = open[name] { saveAndSchedule(room, now) }
    case .hibernate(let name, let sequence): hibernate(name, after: sequence, now)
    case .save(let name): saveForLog(name, now)
    case .survey(let body): body(self)
    }
    return true
  }

  /// Returns an open room, restoring it from memory if it hibernates.
  func room(named name: RoomName, _ now: NIODeadline) -> Room? {
    let room = open[name] ?? wake(name, now)
    room?.turn.use(at: now)
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

  /// Rejects a delivery whose room was closed before the delivery arrived.
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
    guard room.turn.schedule(at: slot) else { return }
    dueTimes.add(room, at: slot)
    setTimer()
  }

  private func setTimer() {
    guard let slot = dueTimes.first else { return }
    if let timer {
      guard slot < timer.slot else { return }
      timer.task.cancel()
    }
    let task = lane.eventLoop.assumeIsolated().scheduleTask(
      deadline: .uptimeNanoseconds(UInt64(max(0, slot)) * 1_000_000)
    ) { [weak self] () -> Void in
      self?.drawDueRooms()
    }
    timer = (slot, task)
  }

  /// Draws and saves the rooms that are due, until the turn's time is used up.
  private func drawDueRooms() {
    timer = nil
    let start = NIODeadline.now()
    var now = start
    while let (slot, room) = dueTimes.popFirst(by: now.machineTime / 1_000_000) {
      guard room.turn.begin(at: slot) else { continue }
      lane.meter.measure {
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

  private func begin(_ name: RoomName, _ snapshot: RoomSnapshot?, _ now: NIODeadline) {
    precondition(
      open[name] == nil && !hibernated.contains(name), "a lane has at most one room of each name")
    let room = make(RoomLifetime(name, on: lane), restoring: snapshot, now)
    if room.isPersistent { library?.keep(name.description, onSnapshotDue: onSnapshotDue) }
    // The log records the opening, so that even a room without events survives a restart.
    if snapshot == nil { room.beginLog(opened: WallClock.milliseconds()) }
    scheduleHibernation()
  }

  private func make(
    _ life: RoomLifetime, restoring snapshot: RoomSnapshot?, _ now: NIODeadline
  ) -> Room {
    var schedule: SnapshotSchedule?
    if let snapshots, let library { schedule = SnapshotSchedule(snapshots, library) }
    let room = Room(
      life, on: lane, settings: settings, now: now, restoring: snapshot, schedule)
    room.onEffects { [weak self] in
      guard let self, let room = open[life.room] else { return }
      room.log.handOver()
      saveAndSchedule(room, .now())
    }
    open[life.room] = room
    return room
  }

  /// Saves a room, so that older segments of the log can be removed.
  private func saveForLog(_ name: RoomName, _ now: NIODeadline) {
    if let room = open[name] {
      room.snapshots?.request(at: now)
      return saveAndSchedule(room, now)
    }
    // A hibernated room is saved without restoring it, because many rooms may be saved at the same
    // time.
    guard let snapshots, let library, let saving = hibernated.saving(name) else { return }
    library.noteSaving(name.description)
    snapshots.post(saving.snapshot, saving.number, of: saving.lifetime) { isWritten in
      library.noteSaved(name.description, isWritten: isWritten)
    }
  }

  private func close(
    _ name: RoomName, _ isForGood: Bool, _ now: NIODeadline,
    _ completion: @escaping @Sendable (_ failure: String?) -> Void
  ) {
    if !isForGood, let counts = hibernated.drop(name) {
      closed.add(counts)
      return completion(nil)
    }
    guard let room = room(named: name, now) else { return completion(nil) }
    open[name] = nil
    room.turn.cancel()
    if isForGood || !room.isPersistent {
      room.finish()
      room.endMonitors()
      if let recording = room.closeRecording() { lane.recordings?.roomClosed(name, recording) }
      room.forget(completion)
    } else {
      room.suspend(now: now)
      if let ended = room.endRecording() { lane.recordings?.roomSuspended(name, ended.recorder) }
      completion(nil)
    }
    closed.add(room.counts)
  }

  // MARK: Idle rooms

  /// Schedules the next search for idle rooms, if there are rooms that may become idle.
  private func scheduleHibernation() {
    guard hibernationSearch == nil, let idle = settings.hibernatesAfter,
      !open.isEmpty || trimsLeft > 0
    else { return }
    let nanoseconds = TimeAmount(idle).nanoseconds / 4
    let delay = TimeAmount.nanoseconds(min(max(nanoseconds, 500_000_000), 60_000_000_000))
    hibernationSearch = lane.eventLoop.assumeIsolated().scheduleTask(in: delay) {
      [weak self] () -> Void in
      self?.lookForIdleRooms()
    }
  }

  /// The maximum number of rooms that one search selects for hibernation.
  private static let maximumHibernations = 4_096

  private func lookForIdleRooms() {
    hibernationSearch = nil
    lane.meter.measure {
      let now = NIODeadline.now()
      let idle = open.values.filter { isIdle($0, now) }
      let first = idle.filter(\.canHibernate)
        .sorted { ($0.turn.lastUse, $0.name) < ($1.turn.lastUse, $1.name) }
        .prefix(Self.maximumHibernations)
      if let writer = first.first?.log.writer {
        // The rooms share one log, so a single sync ensures that all their events are on disk.
        let ends = first.map { ($0.name, $0.log.sequence) }
        writer.whenSynced { [lane] in
          for (name, end) in ends { lane.postHibernation(of: name, after: end) }
        }
      }
      // A snapshot spares the next start from replaying a long log.
      for room in idle where !room.log.isShort {
        room.snapshots?.request(at: now)
        saveAndSchedule(room, now)
      }
    }
    if trimsLeft > 0 {
      trimsLeft -= 1
      // Memory is returned on the snapshot thread, because the allocator is locked while it
      // searches the memory of many rooms.
      snapshots?.ping(FreeMemory.returnToSystem)
    }
    scheduleHibernation()
  }

  private func isIdle(_ room: Room, _ now: NIODeadline) -> Bool {
    settings.hibernatesAfter.map { room.turn.isIdle(after: $0, now: now) } ?? false
  }

  private func hibernate(_ name: RoomName, after end: Int, _ now: NIODeadline) {
    guard let room = open[name], isIdle(room, now), room.canHibernate, room.log.sequence == end,
      hibernated.add(room, now: now)
    else { return }
    room.turn.cancel()
    open[name] = nil
    trimsLeft = 2
    lane.observer(name, .hibernated)
  }

  private func wake(_ name: RoomName, _ now: NIODeadline) -> Room? {
    guard let (idle, snapshot) = hibernated.remove(name) else { return nil }
    let room = make(RoomLifetime(name, on: lane, idle.life), restoring: snapshot, now)
    room.wake(from: idle, now: now)
    lane.observer(name, .woken)
    saveAndSchedule(room, now)
    scheduleHibernation()
    return room
  }
}
