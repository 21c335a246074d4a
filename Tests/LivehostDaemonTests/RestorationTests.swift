import ControlInterface
import Foundation
import HostScreen
import LiveEvents
import LivehostDaemon
import Logging
import NIOCore
import NIOPosix
import RateLimiting
import Recordings
import Rooms
import Synchronization
import Systemd
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct RestorationTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  /// Saves rooms as an earlier run would.
  private func save(_ rooms: [String]) async throws {
    let store = try SnapshotStore(directory: path + "/rooms")
    try store.start()
    for room in rooms {
      let screen = HostScreen.still()
      store.post(
        RoomSnapshot(
          room: room, savedAt: 1, instant: .origin, screen: screen.snapshot),
        of: RoomLifetime(room))
    }
    await store.close()
  }

  /// Restores the rooms. Returns the open rooms, the log entries, the notifications to the service
  /// manager and the problems.
  private func restore() async throws
    -> (open: [String], log: [String], told: [String], problems: [Problem])
  {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
    let (log, told) = (Notes(), Notes())
    let logger = Logger(noting: { log.add("\($0.level): \($0.message)") })
    let lane = HostLane(index: 0, eventLoop: loop, settings: RoomSettings())
    let directory = RoomDirectory(lanes: [lane], maximumRooms: 10)
    let library = try RecordingLibrary(directory: path + "/recordings")
    let recordings = RoomRecordings(library: library, logger: logger)
    let store = try SnapshotStore(directory: path + "/rooms")
    await Restoration(
      store, library, into: directory, recordings: recordings,
      notifier: ServiceNotifier { text in
        told.add(text)
        return 1
      }, logger: logger
    ).run()
    let open = await lane.summaries().map(\.room).sorted()
    await directory.closeAll()
    library.close()
    try await group.shutdownGracefully()
    return (open, log.all, told.all, store.problems)
  }

  private func writeNote(_ text: String) throws {
    try text.write(toFile: path + "/rooms/restoring", atomically: true, encoding: .utf8)
  }

  @Test
  func `a room that was being restored at two deaths is set aside, and the others are restored`()
    async throws
  {
    try await save(["a", "b", "c"])
    // After the first death, the room gets a second chance.
    try writeNote("b 1")
    var result = try await restore()
    #expect(result.open == ["a", "b", "c"])
    #expect(result.log == [])
    #expect(result.problems == [])
    #expect(!FileManager.default.fileExists(atPath: path + "/rooms/restoring"))
    #expect(result.told.contains("STATUS=starting: restoring room b, 2 of 3"))
    // The daemon died there twice.
    try writeNote("b 2")
    result = try await restore()
    #expect(result.open == ["a", "c"])
    #expect(result.log.count == 1)
    #expect(result.log.first?.contains("error: room b is not restored") == true)
    #expect(FileManager.default.fileExists(atPath: path + "/rooms/b.json.set-aside"))
    let problems = result.problems
    #expect(problems.map(\.room) == ["b"])
    let text = try #require(problems.first?.text)
    #expect(text.contains("\(path)/rooms/b.json.set-aside; "))
    #expect(text.contains("rename that file to \(path)/rooms/b.json and start livehostd"))
    #expect(problems.first.map { $0.since > 0 } == true)
    // The room stays set aside and is reported.
    result = try await restore()
    #expect(result.open == ["a", "c"])
    #expect(result.log == [])
    #expect(result.problems == problems)
    // The room stays set aside until its file is renamed as the report suggests.
    try FileManager.default.moveItem(
      atPath: path + "/rooms/b.json.set-aside", toPath: path + "/rooms/b.json")
    result = try await restore()
    #expect(result.open == ["a", "b", "c"])
    #expect(result.problems == [])
  }

  @Test
  func `the restoration note lists the rooms being restored, with each room's number of deaths`()
    throws
  {
    try FileManager.default.createDirectory(
      atPath: path + "/rooms", withIntermediateDirectories: true)
    let store = try SnapshotStore(directory: path + "/rooms")
    func deaths() -> [String: Int] { store.restorationNote().deaths }
    #expect(deaths() == [:])
    var note = store.restorationNote()
    note.begin(["a", "long-name"])
    #expect(deaths() == ["a": 1, "long-name": 1])
    note.begin(["b"])
    #expect(deaths() == ["b": 1])
    note = store.restorationNote()
    note.begin(["a", "b"])
    #expect(deaths() == ["a": 1, "b": 2])
    note.begin([])
    #expect(deaths() == [:])
    note.begin(["a"])
    note.end()
    #expect(deaths() == [:])
    try self.writeNote("nonsense")
    #expect(deaths() == [:])
    // The note of an earlier version.
    try self.writeNote("a 2")
    #expect(deaths() == ["a": 2])
  }

  @Test func `a pipe in place of the restoration note does not block the start`() throws {
    try FileManager.default.createDirectory(
      atPath: path + "/rooms", withIntermediateDirectories: true)
    #expect(mkfifo(path + "/rooms/restoring", 0o600) == 0)
    let note = try SnapshotStore(directory: path + "/rooms").restorationNote()
    #expect(note.deaths == [:])
    note.begin(["a"])
    #expect(try SnapshotStore(directory: path + "/rooms").restorationNote().deaths == ["a": 1])
  }

  @Test func `rooms are restored concurrently, but one at a time after the daemon died doing so`()
    async throws
  {
    try await save(["a", "b", "c"])
    let title = "STATUS=starting: restoring room"
    #expect(try await restore().told.contains(title + "s, 1 to 3 of 3"))
    // Either of the rooms that were being restored may have caused the death.
    try writeNote("a 1\nc 1\n")
    let result = try await restore()
    #expect(result.open == ["a", "b", "c"])
    for (number, room) in ["a", "b", "c"].enumerated() {
      #expect(result.told.contains(title + " \(room), \(number + 1) of 3"))
    }
    #expect(try await restore().told.contains(title + "s, 1 to 3 of 3"))
  }

  @Test func `each step of the start requests more time from the service manager`() async throws {
    try await save(["a"])
    let told = try await restore().told
    let steps = [
      "reading the write-ahead log", "restoring room a, 1 of 1",
      "replaying the write-ahead log", "continuing room a, 1 of 1",
    ].map { "STATUS=starting: \($0)" }
    #expect(told.filter { $0.hasPrefix("STATUS=") } == steps)
    for (index, text) in told.enumerated() where text.hasPrefix("STATUS=") {
      #expect(told.dropFirst(index + 1).first == "EXTEND_TIMEOUT_USEC=15000000", "\(text)")
    }
  }

  @Test func `a snapshot that is larger than any room is set aside unread`() async throws {
    try await save(["a", "b"])
    #expect(truncate(path + "/rooms/a.json", 65 << 20) == 0)
    #expect(try await restore().open == ["b"])
    #expect(FileManager.default.fileExists(atPath: path + "/rooms/a.json.unreadable"))
  }
}
