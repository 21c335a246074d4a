import ControlInterface
import LiveEvents
package import Logging
import NIOCore
import RateLimiting
package import Recordings
import Synchronization
import SystemSupport
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
  /// How many rooms are worked on at once, so that lanes do not wait for each other: one by one if
  /// the last run died at one of them, so that the next start knows which it was.
  private var atOnce: Int { note.deaths.isEmpty ? 32 : 1 }
  /// How many bytes of snapshots wait at most for lanes that make rooms of them, apart from the
  /// last one.
  private static let bytesAtOnce = 4 << 20

  /// Opens each room with its newest snapshot, replays the log, and continues the recordings that
  /// were being written, each in a new segment. Several rooms are restored concurrently.
  ///
  /// A room at which the daemon died twice is set aside.
  package func run() async {
    let work = LongWork(
      "starting", notifier: notifier, unit: "KiB",
      left: { [left, library] in (left.bytes + library.bytesToRecover) >> 10 })
    let saved = store.rooms()
    let log = await work.step("reading the write-ahead log") { await readLog() }
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
      await work.step("replaying the write-ahead log") { await replay(log, into: &restored) }
    }
    let names = restored.keys.sorted()
    for group in groups(of: names) {
      note.begin(group.rooms)
      await work.step(group.title("continuing", of: names.count)) {
        let entries = group.rooms.compactMap { restored.removeValue(forKey: $0) }
        // New batches must not follow a part of the log that may be readable again at the next
        // start.
        await wake(entries, leadsOn: areSavedForGood && log?.losses.isEmpty ?? false)
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
      "room \(room) is not restored: livehostd crashed \(deaths) times in a row while restoring it; its state, its recordings and the log are kept, see livehostctl status",
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
      guard let saved = snapshot(of: room, log?.rooms[name]) else { continue }
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

  private func readLog() async -> LogContents? {
    do throws(RecordingError) {
      let log = try await library.recoverLog()
      // There may be later batches in what cannot be read. Their numbers must not be used again.
      let gap = log.losses.isEmpty ? 0 : 1 << 40
      library.noteSequence(log.newest + gap)
      for loss in log.losses { store.noteLoss(loss) }
      return log
    } catch {
      lose("the write-ahead log cannot be read: \(error.description)")
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
          owner.map {
            "room \($0) is not restored: it has no snapshot, and the log does not contain its opening"
          }
            ?? "batches in the write-ahead log whose room's name is invalid are not restored",
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
      guard let opened = room.opened, opened.sequence > room.closed ?? 0,
        opened.time > aside[name] ?? 0
      else { return nil }
      return name
    }
  }

  /// How much of the log is left to play.
  private final class Remainder: Sendable {
    private let count = Atomic<Int>(0)
    var bytes: Int {
      get { count.load(ordering: .relaxed) }
      set { count.store(newValue, ordering: .relaxed) }
    }
  }

  /// From what a room is restored.
  private struct Saved {
    var snapshot: RoomSnapshot
    var isOlder = false
    /// The size of its file.
    var bytes = 0
  }

  /// What is saved of a room, or known from the log, which says more if the room was opened after
  /// that.
  private func snapshot(of room: RoomName, _ log: LogContents.Room?) -> Saved? {
    let saved = store.load(room.description)
    let sequence = saved.snapshot?.sequence ?? 0
    if let log {
      guard log.isOpen || sequence > log.closed ?? 0 else {
        let life = RoomLifetime(room)
        store.remove(life, whenGone: { [library] in library.forget(life.name) })
        return nil
      }
      if let opened = log.opened, opened.sequence > max(sequence, log.closed ?? 0) {
        return Saved(
          snapshot: RoomSnapshot(
            room: room.description, savedAt: opened.time, sequence: opened.sequence - 1))
      }
    }
    if saved.snapshot == nil {
      lose("room \(room) is not restored: none of its snapshots can be read", of: room)
      // Nothing is left that the log could be played into.
      library.forget(room.description)
    }
    return saved.snapshot.map { Saved(snapshot: $0, isOlder: saved.isOlder, bytes: saved.bytes) }
  }

  /// `nil` if the daemon is about to stop.
  private func open(_ room: RoomName, _ saved: Saved) -> RestoredRoom? {
    let snapshot = saved.snapshot
    guard let lane = try? directory.open(room, restoring: snapshot) else { return nil }
    let sequence = snapshot.sequence ?? 0
    library.noteSequence(sequence)
    return RestoredRoom(
      room: room, lane: lane, saved: snapshot.moment, isOlder: saved.isOlder, sequence: sequence,
      recording: snapshot.recording?.recording)
  }

  /// - Parameter leadsOn: whether what comes next in the log follows what is safely on disk.
  private func wake(_ rooms: [RestoredRoom], leadsOn: Bool) async {
    for entry in rooms where entry.isLost {
      lose(
        "the latest changes of room \(entry.room) are lost: the log does not continue its state",
        of: entry.room)
    }
    await visit(rooms) { room, entry in
      room?.wake(
        after: entry.saved, at: entry.sequence, isLost: entry.isLost || !leadsOn, now: .now())
    }
    for entry in rooms {
      await recordings.resume(entry.room, entry.recording, on: entry.lane)
    }
    await visit(rooms) { room, entry in
      guard let room else { return }
      room.endRestoration()
      let now = NIODeadline.now()
      if entry.isOlder { room.snapshots?.request(at: now) }
      if let idle = room.settings.packsAfter { room.turn.makeIdle(after: idle, now: now) }
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
          // Whose batches are missing finds out by the next mark; of the last one, a part may be
          // there.
          (hasMore, isCutShort) = (false, true)
        }
        for step in steps {
          if let mark = LogMark(step) {
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
}
