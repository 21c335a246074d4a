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

  /// The number of consecutive crashes during the restoration of a room after which the room is set
  /// aside.
  private static let maximumDeaths = 2
  /// The number of rooms that are restored concurrently, so that lanes do not wait for each other.
  /// If the last run crashed during a restoration, rooms are restored one by one, so that the next
  /// start knows at which room it crashed.
  private var atOnce: Int { note.deaths.isEmpty ? 32 : 1 }
  /// The size of loaded snapshots in bytes above which loading pauses until the lanes have restored
  /// them. The last snapshot may exceed it.
  private static let bytesAtOnce = 4 << 20

  /// Opens each room with its newest snapshot, replays the log, and continues the recordings that
  /// were being written, each in a new segment. Several rooms are restored concurrently.
  ///
  /// A room is set aside if the daemon crashed twice in a row while restoring it.
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
    // If this fails, later batches of a room can be replayed only from its next snapshot.
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
        // New batches must not continue a log with unreadable parts, which may be readable again at
        // the next start.
        await wake(entries, leadsOn: areSavedForGood && log?.losses.isEmpty ?? false)
      }
    }
    note.end()
  }

  /// Rooms that are restored concurrently.
  private struct Group {
    let rooms: [String]
    /// The number of rooms in earlier groups.
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

  /// Returns whether a room must not be restored: its name is invalid, or the daemon has crashed
  /// too often while restoring it. In the latter case, sets the room aside.
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

  /// Opens rooms with their saved states. Returns once the lanes have restored them.
  private func open(
    _ rooms: [RoomName], _ log: LogContents?, into restored: inout [String: RestoredRoom]
  ) async {
    var opened: [RestoredRoom] = []
    var bytes = 0
    for room in rooms {
      let name = room.description
      guard let saved = snapshot(of: room, log?.rooms[name]) else { continue }
      // The room was closed before the snapshot was saved, so this is a later room of the same
      // name.
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

  /// Calls `body` with each room, on the room's lane. Returns once all calls have returned.
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
      // The unreadable parts may contain later batches, whose log sequences must not be used again.
      let gap = log.losses.isEmpty ? 0 : 1 << 40
      library.noteSequence(log.newest + gap)
      for loss in log.losses { store.noteLoss(loss) }
      return log
    } catch {
      lose("the write-ahead log cannot be read: \(error.description)")
      return nil
    }
  }

  /// Releases the logged batches of rooms that cannot be restored, so that the log can be cut.
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

  /// Logs a loss, and records it for the status.
  func lose(_ text: String, of room: RoomName? = nil) {
    logger.warning("\(text)", metadata: room.map { ["room": "\($0)"] } ?? [:])
    store.noteLoss(text, of: room)
  }

  /// Returns the open rooms whose opening is in the log, except for rooms that were set aside after
  /// it.
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

  /// The number of bytes of the log that are not replayed yet.
  private final class Remainder: Sendable {
    private let count = Atomic<Int>(0)
    var bytes: Int {
      get { count.load(ordering: .relaxed) }
      set { count.store(newValue, ordering: .relaxed) }
    }
  }

  /// The state from which a room is restored.
  private struct Saved {
    var snapshot: RoomSnapshot
    var isOlder = false
    /// The size of the snapshot's file in bytes.
    var bytes = 0
  }

  /// Returns the newest snapshot of a room or, if the log contains a later opening of the room, the
  /// empty state at that opening. Returns `nil` if the room is closed or cannot be restored.
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
      // Without a snapshot, the logged batches of the room cannot be replayed.
      library.forget(room.description)
    }
    return saved.snapshot.map { Saved(snapshot: $0, isOlder: saved.isOlder, bytes: saved.bytes) }
  }

  /// Opens a room with its saved state; returns `nil` if the daemon is about to stop.
  private func open(_ room: RoomName, _ saved: Saved) -> RestoredRoom? {
    let snapshot = saved.snapshot
    guard let lane = try? directory.open(room, restoring: snapshot) else { return nil }
    let sequence = snapshot.sequence ?? 0
    library.noteSequence(sequence)
    return RestoredRoom(
      room: room, lane: lane, saved: snapshot.moment, isOlder: saved.isOlder, sequence: sequence,
      recording: snapshot.recording?.recording)
  }

  /// - Parameter leadsOn: whether the next start can replay new batches after everything that is on
  ///   disk now.
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
      if let idle = room.settings.hibernatesAfter { room.turn.makeIdle(after: idle, now: now) }
    }
  }

  /// The number of bytes of the log that are read before the rooms replay their steps.
  private static let groupSize = 8 << 20

  /// Replays the logged batches that the snapshots do not contain.
  private func replay(_ log: LogContents, into rooms: inout [String: RestoredRoom]) async {
    var due: [String: [RecordedStep]] = [:]
    var (done, handed) = (0, 0)
    defer { left.bytes = 0 }
    for files in log.segments {
      var reader = RecordingReader(files)
      var steps: [RecordedStep] = []
      /// The room to which the next steps belong; `nil` if no room needs them.
      var current: String?
      var hasMore = true
      while hasMore {
        var isCutShort = false
        do throws(RecordingError) {
          hasMore = try reader.read(into: &steps)
        } catch {
          // The next mark of a room reveals that its batches are missing. The last batch may be
          // incomplete.
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
