import ControlInterface
import LiveEvents
package import Logging
import NIOCore
import Platform
import RateLimiting
package import Recordings
import Synchronization
package import Systemd

/// Restores the rooms saved by the last run of the daemon, before any client is accepted.
package struct Restoration {
  let store: SnapshotStore
  let library: RecordingLibrary
  private let directory: RoomDirectory
  let recordings: RoomRecordings
  private let notifier: ServiceNotifier
  let logger: Logger
  private let left = Remainder()
  private let note: RestorationNote

  package init(
    _ store: SnapshotStore, _ library: RecordingLibrary, into directory: RoomDirectory,
    recordings: RoomRecordings,
    notifier: ServiceNotifier, logger: Logger
  ) {
    self.notifier = notifier
    self.store = store
    note = store.restorationNote()
    self.library = library
    self.directory = directory
    self.recordings = recordings
    self.logger = logger
  }

  /// How often the daemon may die while it restores a room, until the room is set aside.
  private static let maximumDeaths = 2
  /// How many rooms are worked on at once, so that lanes do not wait for each other: one by one if the last run died
  /// at one of them, so that the next start knows which it was.
  private var atOnce: Int { note.deaths.isEmpty ? 32 : 1 }
  /// How many bytes of snapshots wait at most for lanes that make rooms of them, apart from the last one.
  private static let bytesAtOnce = 4 << 20

  /// Opens the rooms, some at once. Everything recorded or logged after a room's snapshot is played into it, and its
  /// recording continues in a new segment.
  ///
  /// A room at which the daemon died twice is set aside.
  package func run() async {
    let work = LongWork(
      "starting", notifier: notifier, unit: "KiB",
      left: { [left, library] in (left.bytes + library.bytesToRecover) >> 10 })
    let saved = store.rooms()
    let log = await work.step("reading the log of the rooms") { await readLog() }
    let rooms = Set(saved).union(onlyLogged(log)).sorted()
    var restored: [String: RestoredRoom] = [:]
    for group in groups(of: rooms.filter { !isSetAside($0) }) {
      note.begin(group.rooms)
      await work.step(group.title("restoring", of: rooms.count)) {
        await open(group.rooms.compactMap(RoomName.init), log, into: &restored)
      }
    }
    note.begin([])
    // Otherwise each room relies on the snapshot that comes next.
    let areSavedForGood = store.syncNames()
    forgetRemains(of: log, except: rooms)
    if let log {
      await work.step("repeating what the rooms did last") { await replay(log, into: &restored) }
    }
    let names = restored.keys.sorted()
    for group in groups(of: names) {
      note.begin(group.rooms)
      await work.step(group.title("continuing", of: names.count)) {
        let entries = group.rooms.compactMap { restored.removeValue(forKey: $0) }
        await wake(
          entries.map { atEnd($0, log) }, leadsOn: areSavedForGood && log?.losses.isEmpty ?? false)
      }
    }
    note.end()
  }

  /// Rooms that are worked on at once.
  private struct Group {
    let rooms: [String]
    /// How many come before them.
    let before: Int

    func title(_ what: String, of count: Int) -> String {
      rooms.count == 1
        ? "\(what) room \(rooms[0]), \(before + 1) of \(count)"
        : "\(what) rooms, \(before + 1) to \(before + rooms.count) of \(count)"
    }
  }

  private func groups(of rooms: [String]) -> [Group] {
    stride(from: 0, to: rooms.count, by: atOnce).map {
      Group(rooms: Array(rooms[$0..<min($0 + atOnce, rooms.count)]), before: $0)
    }
  }

  /// Whether the daemon has died too often at a room, which has been set aside.
  private func isSetAside(_ name: String) -> Bool {
    guard let room = RoomName(name) else { return true }
    let deaths = note.deaths[name] ?? 0
    guard deaths >= Self.maximumDeaths else { return false }
    store.setAside(name)
    logger.error(
      "room \(room) is not restored: livehostd died \(deaths) times in a row while it was; its state, its recordings and the log are kept, see livehostctl status",
      metadata: ["room": "\(room)"])
    return true
  }

  /// Opens rooms in what is saved of them. Returns once the lanes have done that.
  private func open(
    _ rooms: [RoomName], _ log: LogContents?, into restored: inout [String: RestoredRoom]
  ) async {
    var opened: [RestoredRoom] = []
    var bytes = 0
    for room in rooms {
      let name = room.description
      guard let saved = await snapshot(of: room, log?.rooms[name]) else { continue }
      // Its closing is older than what is saved.
      if log?.rooms[name]?.isOpen == false { library.forget(name) }
      guard let entry = open(room, saved) else { continue }
      restored[name] = entry
      opened.append(entry)
      bytes += saved.bytes
      guard bytes > Self.bytesAtOnce else { continue }
      await visit(exchange(&opened, with: [])) { _, _ in }
      bytes = 0
    }
    await visit(opened) { _, _ in }
  }

  /// Runs `body` with rooms, on their lanes. Returns once it has run with all of them.
  private func visit(
    _ rooms: [RestoredRoom], _ body: @escaping @Sendable (Room?, RestoredRoom) -> Void
  ) async {
    await forAll(rooms) { entry, done in
      entry.lane.postVisit(to: entry.room) { room in
        body(room, entry)
        done()
      }
    }
  }

  /// What is known of a room once all of the log is read.
  private func atEnd(_ restored: RestoredRoom, _ log: LogContents?) -> RestoredRoom {
    var entry = restored
    entry.isLost = entry.isLost || log == nil
    // The log may have led to it: then it has been played, up to where what was logged behind it goes on or, if its
    // end is lost, as far as it can be read.
    guard let last = entry.last, last.recording != entry.recorded?.recording else { return entry }
    if entry.recorded == nil {
      entry.isLost = entry.isLost || last.logEnd != entry.logged
    } else if last.logEnd == entry.logged {
      // It began where the log goes on from the recording that the snapshot knows.
      entry.isLoggedLast = false
    } else {
      return entry
    }
    entry.recorded = RecordedPosition(recording: last.recording)
    return entry
  }

  private func readLog() async -> LogContents? {
    do throws(RecordingError) {
      let log = try await library.recoverLog()
      // There may be later sessions in what cannot be read. They must stay apart from those that follow.
      let gap = log.losses.isEmpty ? 0 : 1 << 20
      library.noteSession(log.newestSession + gap)
      for loss in log.losses { store.noteLoss(loss) }
      return log
    } catch {
      lose("the log of the rooms cannot be read: \(error.description)")
      return nil
    }
  }

  /// Lets the log be cut before what it has of rooms that it cannot bring back.
  private func forgetRemains(of log: LogContents?, except rooms: [String]) {
    let saved = Set(rooms)
    let known = saved.union(store.roomsAside.map(\.room))
    for (name, room) in log?.rooms ?? [:]
    where !(room.isOpen ? known : saved).contains(name) {
      if room.isOpen {
        let owner = RoomName(name)
        lose(
          owner.map { "room \($0) is not restored: neither its opening is left nor a saved state" }
            ?? "the log of the rooms has parts that belong to no room: they are not restored",
          of: owner)
      }
      library.forget(name)
    }
  }

  /// Tells what is missing.
  func lose(_ text: String, of room: RoomName? = nil) {
    logger.warning("\(text)", metadata: room.map { ["room": "\($0)"] } ?? [:])
    store.noteLoss(text, of: room)
  }

  /// The rooms that are only in the log, except for those that were set aside.
  private func onlyLogged(_ log: LogContents?) -> [String] {
    let aside = Dictionary(
      store.roomsAside.map { ($0.room, $0.since) }, uniquingKeysWith: { first, _ in first })
    return (log?.rooms ?? [:]).compactMap { name, room in
      guard let opened = room.opened, opened.session > room.closed ?? 0,
        opened.time > aside[name] ?? 0
      else { return nil }
      return name
    }
  }

  /// How much of the present room's recording is left to read.
  private final class Remainder: Sendable {
    private let count = Atomic<Int>(0)
    var bytes: Int {
      get { count.load(ordering: .relaxed) }
      set { count.store(newValue, ordering: .relaxed) }
    }
  }

  /// `nil` if the daemon is about to stop.
  private func open(_ room: RoomName, _ saved: Saved) -> RestoredRoom? {
    let snapshot = saved.snapshot
    guard let lane = try? directory.open(room, restoring: snapshot) else { return nil }
    if let session = snapshot.log?.session { library.noteSession(session) }
    return RestoredRoom(
      room: room, lane: lane, saved: snapshot.moment, isOlder: saved.isOlder, logged: snapshot.log,
      recorded: snapshot.recording, last: saved.last)
  }

  /// - Parameter leadsOn: whether what comes next in the log follows what is safely on disk.
  private func wake(_ rooms: [RestoredRoom], leadsOn: Bool) async {
    for entry in rooms where entry.isLost && entry.logged != nil {
      lose(
        "what room \(entry.room) did last is not in its state: the log does not lead on from there",
        of: entry.room)
    }
    await visit(rooms.filter { $0.recorded == nil }) { room, entry in
      guard let room else { return }
      let now = NIODeadline.now()
      room.wake(after: entry.saved, at: entry.logged, now: now)
      room.endRestoration(
        at: entry.logged, recorded: nil, isLost: entry.isLost || !leadsOn,
        mustSave: entry.isOlder, now: now)
      // Nobody has used it yet.
      if let idle = room.settings.packsAfter { room.lastUse = now - TimeAmount(idle) }
    }
    for entry in rooms {
      guard let recorded = entry.recorded else { continue }
      note.begin([entry.room.description])
      await wake(entry, after: recorded, leadsOn: leadsOn)
    }
  }

  /// - Parameter recorded: what was recorded last, behind which nothing was logged.
  private func wake(_ restored: RestoredRoom, after recorded: RecordedPosition, leadsOn: Bool) async
  {
    let (room, lane, saved) = (restored.room, restored.lane, restored.saved)
    var end = recorded
    // What comes next does not follow what is in a part of the log that may be readable at the next start.
    var isLost = restored.isLost || !leadsOn
    if await !catchUp(restored, &end) { isLost = true }
    // What it is saved with says so, too, since it is not logged while it is recorded.
    let logged = restored.logged.map { isLost ? LogPosition(session: library.newSession()) : $0 }
    await lane.visit(room) { $0?.wake(after: saved, at: logged, now: .now()) }
    if await recordings.resume(room, after: end, on: lane) { isLost = true }
    let isBehindLog = restored.isLoggedLast && end == recorded
    await lane.visit(room) { [isLost, end] in
      // Saved, since recordings are deleted once no saved state needs them.
      $0?.endRestoration(
        at: logged, recorded: isBehindLog ? nil : end, isLost: isLost, mustSave: true,
        now: .now())
    }
  }

  /// How many bytes of the log are read before the rooms get their steps.
  private static let groupSize = 8 << 20

  /// Plays everything that is in the log and not in the snapshots.
  private func replay(_ log: LogContents, into rooms: inout [String: RestoredRoom]) async {
    var due: [String: [RecordedStep]] = [:]
    var (done, handed) = (0, 0)
    defer { left.bytes = 0 }
    for files in log.segments {
      var reader = RecordingReader(files)
      var steps: [RecordedStep] = []
      /// Whose steps follow; `nil` if nobody needs them.
      var current: String?
      var hasMore = true
      while hasMore {
        var isCutShort = false
        do throws(RecordingError) {
          hasMore = try reader.read(into: &steps)
        } catch {
          // Whose batches are missing finds out by the next mark; of the last one, a part may be there.
          (hasMore, isCutShort) = (false, true)
        }
        for step in steps {
          if let mark = LogMark(step) {
            if var next = rooms[mark.room]?.recording(before: mark), let entry = rooms[mark.room] {
              await hand(&due, to: rooms)
              note.begin([mark.room])
              let isWhole = await catchUp(entry, &next, until: mark.recorded)
              note.begin([])
              rooms[mark.room]?.recorded = next
              if !isWhole { rooms[mark.room]?.isLost = true }
            }
            current = rooms[mark.room]?.follows(mark) == true ? mark.room : nil
          } else if let current {
            due[current, default: []].append(step)
          }
        }
        if isCutShort, let current { rooms[current]?.isLost = true }
        steps.removeAll(keepingCapacity: true)
        left.bytes = max(0, log.bytes - done - reader.bytesRead)
        if done + reader.bytesRead - handed >= Self.groupSize {
          handed = done + reader.bytesRead
          await hand(&due, to: rooms)
        }
      }
      done += files.bytes
    }
    await hand(&due, to: rooms)
  }

  private func hand(
    _ due: inout [String: [RecordedStep]], to rooms: [String: RestoredRoom]
  ) async {
    let due = exchange(&due, with: [:])
    for group in groups(of: due.keys.sorted()) {
      note.begin(group.rooms)
      await visit(group.rooms.compactMap { rooms[$0] }) { room, entry in
        room?.catchUp(due[entry.room.description] ?? [])
      }
      note.begin([])
    }
  }

  /// A recording that cannot be read to its end leaves the room where it stopped.
  ///
  /// - Parameter end: where something else comes next.
  /// - Returns: `false` if something is missing, so that the room must not take what comes next.
  @discardableResult
  private func catchUp(
    _ restored: RestoredRoom, _ position: inout RecordedPosition, until end: RecordedPosition? = nil
  ) async -> Bool {
    let (room, lane) = (restored.room, restored.lane)
    let start = position
    var isWhole = true
    /// How many of the steps at the position's instant have not been found yet.
    var missing = start.steps
    defer { left.bytes = 0 }
    var failure: RecordingError?
    do throws(RecordingError) {
      let files = try await library.files(of: start.recording)
      var reader = RecordingReader(files, from: start.instant)
      var steps: [RecordedStep] = []
      var hasMore = true
      while hasMore {
        hasMore = try reader.read(into: &steps)
        left.bytes = max(0, files.bytes - reader.bytesRead)
        let known = steps.prefix(missing).prefix { $0.instant == start.instant }.count
        missing -= known
        var due: [RecordedStep] = []
        for step in exchange(&steps, with: []).dropFirst(known) where position != end {
          position.advance(by: 1, at: step.instant)
          if isWhole, step.followsSnapshot {
            // With an older snapshot, what follows may have been acknowledged.
            isWhole = restored.isOlder
            lose(
              "what room \(room) did while recording \(start.recording) was paused\(isWhole ? "" : ", and after that,") is not in its state",
              of: room)
          }
          if isWhole { due.append(step) }
        }
        if position == end { hasMore = false }
        if !due.isEmpty { await lane.visit(room) { [due] in $0?.catchUp(due) } }
      }
    } catch {
      failure = error
    }
    let metadata: Logger.Metadata = ["room": "\(room)", "recording": "\(start.recording)"]
    let reason = failure.map { ": \($0)" } ?? ""
    if missing > 0 {
      // What comes next at this instant is counted from what is there.
      if position == start { position.steps -= missing }
      logger.warning(
        "the saved state of room \(room) is newer than what is left of its recording; it is kept, but the recording lacks the steps that led to it\(reason)",
        metadata: metadata)
    } else if failure != nil {
      logger.warning(
        "the last steps that room \(room) recorded are not in its state\(reason)",
        metadata: metadata)
    }
    return isWhole && missing <= 0 && failure == nil
  }
}

extension RecordedStep {
  /// Whether only a snapshot has what lies in front of it.
  fileprivate var followsSnapshot: Bool {
    guard case .change(let text, _) = self else { return false }
    return RoomChange(text: text)?.followsSnapshot == true
  }
}
