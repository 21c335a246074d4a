import LiveEvents
package import Logging
import NIOCore
import RateLimiting
import Recordings
import Synchronization
package import Systemd

/// Restores the rooms saved by the last run of the daemon, before any client is accepted.
package struct Restoration {
  private let store: SnapshotStore
  private let directory: RoomDirectory
  private let recordings: RoomRecordings
  private let notifier: ServiceNotifier
  private let logger: Logger
  private let left = Remainder()

  package init(
    _ store: SnapshotStore, into directory: RoomDirectory, recordings: RoomRecordings,
    notifier: ServiceNotifier, logger: Logger
  ) {
    self.notifier = notifier
    self.store = store
    self.directory = directory
    self.recordings = recordings
    self.logger = logger
  }

  /// Opens the rooms, one after the other. Everything recorded after a room's snapshot is played into
  /// it, and its recording continues in a new segment.
  ///
  /// A room at which the daemon died twice is set aside.
  package func run() async {
    let rooms = store.rooms()
    let unfinished = store.unfinishedRestoration()
    let work = LongWork(
      "starting", notifier: notifier, unit: "KiB", left: { [left] in left.bytes >> 10 })
    for (number, name) in rooms.enumerated() {
      guard let room = RoomName(name) else { continue }
      let deaths = unfinished?.room == name ? unfinished?.deaths ?? 0 : 0
      guard store.beginRestoration(of: name, deaths: deaths) else {
        logger.error(
          "room \(room) is not restored: livehostd died \(deaths) times in a row while it was; its state and its recordings are kept, see livehostctl status",
          metadata: ["room": "\(room)"])
        continue
      }
      await work.step("restoring room \(room), \(number + 1) of \(rooms.count)") {
        if let snapshot = store.load(name) { await restore(room, snapshot) }
      }
    }
    store.endRestoration()
  }

  /// How much of the present room's recording is left to read.
  private final class Remainder: Sendable {
    private let count = Atomic<Int>(0)
    var bytes: Int {
      get { count.load(ordering: .relaxed) }
      set { count.store(newValue, ordering: .relaxed) }
    }
  }

  private func restore(_ room: RoomName, _ snapshot: RoomSnapshot) async {
    let lane: HostLane
    do throws(RoomDirectory.Refusal) {
      lane = try directory.open(room, restoring: snapshot)
    } catch {
      logger.warning(
        "room \(room) is not restored: as many rooms are open as rooms.maximum allows",
        metadata: ["room": "\(room)"])
      return
    }
    var end = snapshot.recording
    if end != nil { await catchUp(room, &end!, on: lane) }
    await lane.visit(room) { $0?.wake(after: snapshot, now: .now()) }
    if let end { await recordings.resume(room, after: end, on: lane) }
  }

  /// A recording that cannot be read to its end leaves the room where it stopped.
  private func catchUp(
    _ room: RoomName, _ position: inout RecordedPosition, on lane: HostLane
  ) async {
    let start = position.instant
    defer { left.bytes = 0 }
    var skipped = position.steps
    do {
      let files = try await recordings.files(of: position.recording)
      var reader = RecordingReader(files, from: start)
      var steps: [RecordedStep] = []
      var hasMore = true
      while hasMore {
        hasMore = try reader.read(into: &steps)
        left.bytes = max(0, files.bytes - reader.bytesRead)
        let known = steps.prefix(skipped).prefix { $0.instant == start }.count
        skipped -= known
        let due = Array(exchange(&steps, with: []).dropFirst(known))
        for step in due { position.advance(by: 1, at: step.instant) }
        if !due.isEmpty { await lane.visit(room) { $0?.catchUp(due) } }
      }
    } catch {
      logger.warning(
        "the last steps that room \(room) recorded are not in its state: \(error)",
        metadata: ["room": "\(room)", "recording": "\(position.recording)"])
    }
  }
}
