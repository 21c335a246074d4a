import ControlInterface
import FileSystem
import Foundation
import Ingest
import LiveEvents
import Logging
import NIOCore
import NIOPosix
import Recordings
import Rooms
import Synchronization
import Systemd
import Testing
import WireFormats

/// A record of the logged entries.
final class Notes: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }
  func contain(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
  var all: [String] { lines.withLock { $0 } }
}

/// The hibernated rooms, and how often each room has hibernated.
final class Hibernations: Sendable {
  private struct Contents {
    var counts: [RoomName: Int] = [:]
    var hibernated: Set<RoomName> = []
    var waiting: [(room: RoomName, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let contents = Mutex(Contents())

  func record(_ room: RoomName, isHibernated: Bool) {
    let due = contents.withLock { contents in
      if isHibernated {
        contents.hibernated.insert(room)
        contents.counts[room, default: 0] += 1
      } else {
        contents.hibernated.remove(room)
      }
      let due = contents.waiting.filter { contents.hibernated.contains($0.room) }
      contents.waiting.removeAll { contents.hibernated.contains($0.room) }
      return due.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  func count(_ room: RoomName) -> Int { contents.withLock { $0.counts[room] ?? 0 } }

  /// Waits until a room hibernates.
  func wait(for room: RoomName) async {
    await withCheckedContinuation { continuation in
      let isHibernated = contents.withLock { contents in
        if contents.hibernated.contains(room) { return true }
        contents.waiting.append((room, continuation))
        return false
      }
      if isHibernated { continuation.resume() }
    }
  }
}

/// The stores that save the rooms of a daemon, in one state directory.
final class KeptRooms {
  let path: String
  let log = Notes()
  let hibernations = Hibernations()
  /// The acts on platforms that have ended.
  let acts = Notes()
  let store: SnapshotStore
  let directory: RoomDirectory
  let library: RecordingLibrary
  let recordings: RoomRecordings
  let lane: HostLane
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// - Parameter disk: where everything but the note of what is being restored is.
  init(
    in path: String, on disk: any Disk = SystemDisk(), segmentBytes: Int = 32 << 20,
    maximumRooms: Int = 10, settings: RoomSettings = RoomSettings(), mostWaiting: Int = 256
  ) throws {
    self.path = path
    let note: @Sendable (String) -> Void = { [log] in log.add($0) }
    store = try SnapshotStore(
      directory: path + "/rooms", disk: disk, mostWaiting: mostWaiting, onProblem: note)
    try store.start()
    var recording = RecordingSettings()
    recording.disk = disk
    recording.segmentBytes = segmentBytes
    if !(disk is SystemDisk) { recording.cataloguePath = ":memory:" }
    library = try RecordingLibrary(
      directory: path + "/recordings", log: path + "/log", settings: recording, onProblem: note)
    let recordings = RoomRecordings(
      library: library,
      logger: Logger(noting: { note("\($0.message)") }))
    self.recordings = recordings
    let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
    lane = HostLane(
      index: 0, eventLoop: loop, settings: settings, snapshots: store,
      library: library, recordings: recordings,
      observer: { [hibernations, acts] room, event in
        switch event {
        case .hibernated: hibernations.record(room, isHibernated: true)
        case .woken: hibernations.record(room, isHibernated: false)
        case .acted(let act, let outcome):
          acts.add("\(act.act.kind) by \(act.by ?? "nobody"): \(outcome)")
        case .opened, .restored, .closed, .suspended, .committed, .failed: break
        }
      })
    directory = RoomDirectory(lanes: [lane], maximumRooms: maximumRooms)
  }

  func restore() async {
    let log = log
    await Restoration(
      store, library, into: directory, recordings: recordings,
      notifier: ServiceNotifier { _ in 1 }, logger: Logger(noting: { log.add("\($0.message)") })
    ).run()
  }

  /// Sends messages to a room and waits until they are on disk.
  func send(
    _ numbers: Range<Int>, to room: RoomName = .main, on lane: HostLane? = nil
  ) async {
    #expect(await trySend(numbers, to: room, on: lane) == nil)
  }

  /// Sends messages to a room and returns the reason if they cannot be saved.
  func trySend(
    _ numbers: Range<Int>, to room: RoomName = .main, on lane: HostLane? = nil
  ) async -> String? {
    let lane = lane ?? self.lane
    let events = Self.messages(numbers)
    return await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: room, events: events, clock: .event,
          receipt: DeliveryReceipt { continuation.resume(returning: $1) }))
    }
  }

  static func messages(_ numbers: Range<Int>) -> [LiveEvent] {
    numbers.map { number in
      let message = ChatMessage(
        id: "m\(number)", userID: "u", userName: "Ada", text: "number \(number)")
      return LiveEvent(
        timestamp: 1_700_000_000_000 + Timestamp(number * 13), payload: .chat(.message(message)))
    }
  }

  /// Returns the number of messages in a room; `nil` if the room is not open.
  func count(_ room: RoomName = .main) async -> Int? {
    guard let report = await lane.report(room) else { return nil }
    return report.features.chat?.total ?? 0
  }

  /// Returns the number of events received by a room, including held events; `nil` if the room is
  /// not open.
  func received(_ room: RoomName = .main) async -> Int? {
    await lane.report(room)?.counters.received
  }

  /// Waits until everything saved so far is on disk.
  func settle() async {
    _ = await lane.summaries()
    await withCheckedContinuation { continuation in
      store.remove(RoomLifetime("none")) { _ in continuation.resume() }
    }
  }

  /// Copies the state directory as it would be if the daemon were killed now.
  func kill(as end: String = "+") throws -> String {
    let copy = path + end
    // A kill stops all writes at one moment, so no file may change during the copy.
    for _ in 0..<1_000 {
      let before = try files()
      try? FileManager.default.removeItem(atPath: copy)
      if (try? FileManager.default.copyItem(atPath: path, toPath: copy)) != nil,
        try files() == before
      {
        return copy
      }
    }
    throw CocoaError(.fileWriteUnknown)
  }

  /// Returns the files in the state directory, with attributes that change when a file is written
  /// or replaced.
  private func files() throws -> [String: FileState] {
    var files: [String: FileState] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      files[name] = try? SystemDisk().state(of: path + "/" + name)
    }
    return files
  }

  func end() async throws {
    await directory.closeAll()
    await recordings.close()
    await store.close()
    try await group.shutdownGracefully()
  }
}

extension RoomLifetime {
  /// A lifetime of a room that is open on no lane.
  convenience init(_ name: String) {
    guard let room = RoomName(name) else { preconditionFailure("no room can be named \(name)") }
    self.init(room)
  }
}
