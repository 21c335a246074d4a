import Composable
import Foundation
import HostScreen
import LiveEvents
import LivehostDaemon
import RateLimiting
import Synchronization
import TestSupport
import Testing
import ViewGraph

@Suite struct SnapshotStoreTests {
  /// A directory of its own for one test, and what the store complained of.
  private final class Place: Sendable {
    let path = NSTemporaryDirectory() + "rooms-\(UUID().uuidString.prefix(8))"
    let problems = Mutex<[String]>([])

    func store() throws -> SnapshotStore {
      let store = try SnapshotStore(
        directory: path, onProblem: { problem in self.problems.withLock { $0.append(problem) } })
      try store.start()
      return store
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private struct SameThread: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  private final class StillClock: EvaluationClock {
    let now: UInt64 = 0
  }

  private func snapshot(
    _ room: String, savedAt: Int, instant: Instant = Instant(nanoseconds: 5)
  ) -> RoomSnapshot {
    let screen = HostScreen(lane: SameThread(), framesPerSecond: 60, clock: StillClock())
    return RoomSnapshot(
      room: room, savedAt: savedAt, instant: instant, screen: screen.snapshot,
      recording: nil)
  }

  @Test func `a waiting sender learns that a room cannot be saved, and later that it can`()
    async throws
  {
    let place = Place()
    try Data().write(to: URL(fileURLWithPath: place.path))
    let store = try place.store()
    let room = RoomLifetime("a")
    func post() async -> Bool {
      await withCheckedContinuation { continuation in
        store.post(snapshot("a", savedAt: 1), of: room) { continuation.resume(returning: $0) }
      }
    }
    #expect(await !post())
    #expect(store.failure?.reason.contains("room a") == true)
    try FileManager.default.removeItem(atPath: place.path)
    #expect(await post())
    #expect(store.failure == nil)
    let isRemoved = await withCheckedContinuation { continuation in
      store.remove(room) { continuation.resume(returning: $0) }
    }
    #expect(isRemoved)
    #expect(try place.store().load().isEmpty)
    await store.close()
  }

  @Test func `a room whose time cannot advance is set aside`() async throws {
    let place = Place()
    let store = try place.store()
    let rooms = ["a", "b", "c", "d"]
    let instants = [Int64.max, -1, 0, RoomClock.farthest.nanoseconds]
    for (room, instant) in zip(rooms, instants) {
      store.post(
        snapshot(room, savedAt: 1, instant: Instant(nanoseconds: instant)), of: RoomLifetime(room))
    }
    store.post(snapshot("e", savedAt: -1), of: RoomLifetime("e"))
    await store.close()
    #expect(try place.store().load().map(\.room) == ["c", "d"])
    #expect(place.problems.withLock { $0 }.count { $0.contains("'instant' is not possible") } == 2)
    #expect(place.problems.withLock { $0 }.count { $0.contains("'savedAt' is not possible") } == 1)
  }

  @Test func `a reopened room is saved even if the one before it is closed later`() async throws {
    let place = Place()
    let store = try place.store()
    let (old, new) = (RoomLifetime("a"), RoomLifetime("a"))
    store.post(snapshot("a", savedAt: 1), of: old)
    store.post(snapshot("a", savedAt: 2), of: new)
    store.post(snapshot("a", savedAt: 3), of: old)
    store.remove(old)
    await store.close()
    #expect(try place.store().load().map(\.savedAt) == [2])
  }

  @Test func `the newest snapshot of each room is there at the next start, in order of name`()
    async throws
  {
    let place = Place()
    let first = try place.store()
    let (b, a) = (RoomLifetime("b"), RoomLifetime("a"))
    let written = Mutex(0)
    for time in 1...20 {
      first.post(snapshot("b", savedAt: time), of: b) { isWritten in
        written.withLock { $0 += isWritten ? 1 : 0 }
      }
    }
    first.post(snapshot("a", savedAt: 7), of: a)
    await first.close()
    #expect(written.withLock { $0 } == 20, "who was overtaken is told, too")
    let kept = try place.store().load()
    #expect(kept.map(\.room) == ["a", "b"])
    #expect(kept.map(\.savedAt) == [7, 20])
    #expect(place.problems.withLock { $0 } == [])
  }

  @Test func `a closed room is forgotten, and a late snapshot of it is refused`() async throws {
    let place = Place()
    let store = try place.store()
    let room = RoomLifetime("main")
    store.post(snapshot("main", savedAt: 1), of: room)
    store.remove(room)
    let late = Mutex<Bool?>(nil)
    store.post(snapshot("main", savedAt: 2), of: room) { isWritten in
      late.withLock { $0 = isWritten }
    }
    #expect(late.withLock { $0 } == false)
    let next = RoomLifetime("other")
    store.remove(next)
    await store.close()
    #expect(try place.store().load().isEmpty)
    #expect(place.problems.withLock { $0 } == [], "nothing to remove is no problem")
  }

  @Test func `a room opened under the name of a closed one is saved`() async throws {
    let place = Place()
    let store = try place.store()
    let room = RoomLifetime("main")
    store.post(snapshot("main", savedAt: 1), of: room)
    store.remove(room)
    store.post(snapshot("main", savedAt: 3), of: RoomLifetime("main"))
    await store.close()
    #expect(try place.store().load().map(\.savedAt) == [3])
  }

  @Test func `a closed store refuses everything, and says so`() async throws {
    let place = Place()
    let store = try place.store()
    await store.close()
    let answer = Mutex<Bool?>(nil)
    store.post(snapshot("main", savedAt: 1), of: RoomLifetime("main")) { isWritten in
      answer.withLock { $0 = isWritten }
    }
    #expect(answer.withLock { $0 } == false)
    await store.close()
  }

  @Test(
    arguments: [
      ("", "main"), ("{", "main"), (#"{"version":2}"#, "version 2"),
      (#"{"version":1}"#, "main"),
    ])
  func `a file that is not a snapshot of its room is set aside and reported with a reason`(
    _ text: String, _ reason: String
  ) throws {
    let place = Place()
    try FileManager.default.createDirectory(
      atPath: place.path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: place.path + "/main.json"))
    #expect(try place.store().load().isEmpty)
    let problem = try #require(place.problems.withLock { $0.first })
    #expect(problem.contains("main.json cannot be used and was renamed to main.json.unreadable"))
    #expect(problem.contains(reason))
    #expect(FileManager.default.fileExists(atPath: place.path + "/main.json.unreadable"))
    #expect(try place.store().load().isEmpty)
    #expect(place.problems.withLock { $0.count } == 1, "the next start has nothing to tell")
  }

  @Test func `an unwritable directory is reported once, and to every waiting sender`() async throws
  {
    let place = Place()
    try Data().write(to: URL(fileURLWithPath: place.path))
    let store = try place.store()
    let answers = Mutex<[Bool]>([])
    for time in 1...3 {
      store.post(snapshot("r\(time)", savedAt: time), of: RoomLifetime("r\(time)")) { isWritten in
        answers.withLock { $0.append(isWritten) }
      }
    }
    await store.close()
    #expect(answers.withLock { $0 } == [false, false, false])
    #expect(place.problems.withLock { $0.count } == 1)
  }
}

@Suite struct RecordedPositionTests {
  @Test func `the steps of the current instant are counted, earlier ones are forgotten`() {
    var position = RecordedPosition(recording: "r")
    position.advance(by: 2, at: Instant(nanoseconds: 5))
    position.advance(by: 1, at: Instant(nanoseconds: 5))
    #expect(position.steps == 3 && position.instant == Instant(nanoseconds: 5))
    position.advance(by: 4, at: Instant(nanoseconds: 6))
    #expect(position.steps == 4 && position.instant == Instant(nanoseconds: 6))
  }
}

extension SnapshotStore {
  /// All of them; the daemon loads one at a time.
  fileprivate func load() -> [RoomSnapshot] { rooms().compactMap { load($0) } }
}
