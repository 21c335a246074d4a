import Composable
import FileSystem
import Foundation
import Glibc
import HostScreen
import JSON
import LiveEvents
import RateLimiting
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import SystemSupport
import TestSupport
import Testing

@Suite struct SnapshotStoreTests {
  /// The problems that a store reported.
  private final class Problems: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
    func removeAll() -> [String] { texts.withLock { exchange(&$0, with: []) } }
  }

  /// A separate directory for one test, because the thread of a store may outlive the test.
  private final class Place: Sendable {
    private let home = TemporaryDirectory()
    var path: String { home.path + "/rooms" }
    let problems = Problems()

    func store() throws -> SnapshotStore {
      let store = try SnapshotStore(directory: path, onProblem: problems.add)
      try store.start()
      return store
    }

    func bytes(_ name: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    func write(_ bytes: some Collection<UInt8>, to name: String) throws {
      try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
    }
  }

  private func snapshot(
    _ room: String, savedAt: Int, instant: Instant = Instant(nanoseconds: 5)
  ) -> RoomSnapshot {
    let screen = HostScreen.still()
    return RoomSnapshot(
      room: room, savedAt: savedAt, instant: instant, screen: screen.snapshot)
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

  @Test func `a room whose clock cannot advance is set aside`() throws {
    let place = Place()
    let files = StateDirectory(place.path)
    let rooms = ["a", "b", "c", "d"]
    let instants = [Int64.max, -1, 0, RoomClock.farthest.nanoseconds]
    var snapshots = zip(rooms, instants).map { room, instant in
      snapshot(room, savedAt: 1, instant: Instant(nanoseconds: instant))
    }
    snapshots.append(snapshot("e", savedAt: -1))
    for snapshot in snapshots {
      try files.replace("\(snapshot.room).json", with: JSONWriter.text(of: snapshot))
    }
    #expect(try place.store().load().map(\.room) == ["c", "d"])
    #expect(place.problems.all.count { $0.contains("'instant' exceeds the limits") } == 2)
    #expect(place.problems.all.count { $0.contains("'savedAt' exceeds the limits") } == 1)
  }

  @Test func `a room whose clock cannot advance is not saved`() async throws {
    let place = Place()
    let store = try place.store()
    store.post(
      snapshot("a", savedAt: 1, instant: Instant(nanoseconds: .max)), of: RoomLifetime("a"))
    await store.close()
    #expect(store.failure?.reason.contains("'instant' exceeds the limits") == true)
    #expect(try place.store().load().isEmpty)
  }

  @Test func `a reopened room is saved even if its predecessor is closed later`() async throws {
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

  @Test func `a snapshot does not replace a newer one that was posted before it`() async throws {
    let disk = SimulatedDisk()
    let store = try SnapshotStore(directory: "/rooms", disk: disk)
    let room = RoomLifetime("a")
    let written = Mutex<[Int: Bool]>([:])
    func post(_ time: Int, _ number: UInt64) {
      store.post(snapshot("a", savedAt: time), number, of: room) { isWritten in
        written.withLock { $0[time] = isWritten }
      }
    }
    let numbers = (0..<4).map { _ in room.nextSnapshot() }
    // Before the newer snapshot is written, ...
    post(2, numbers[2])
    post(1, numbers[1])
    // ... during the write, ...
    disk.decide { $0.operation == .sync ? .never : nil }
    try store.start()
    await disk.hasCaught()
    post(0, numbers[0])
    #expect(written.withLock { $0 } == [:], "nothing is written yet")
    disk.decide { _ in nil }
    disk.release()
    await withCheckedContinuation { continuation in
      store.post(snapshot("b", savedAt: 9), of: RoomLifetime("b")) { _ in continuation.resume() }
    }
    // ... and after it.
    post(3, numbers[1])
    await store.close()
    #expect(written.withLock { $0 } == [0: true, 1: true, 2: true, 3: true])
    let kept = try SnapshotStore(directory: "/rooms", disk: disk)
    #expect(kept.load().map(\.savedAt) == [2, 9])
  }

  @Test func `the newest snapshot of each room is loaded at the next start, in order of names`()
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
    #expect(written.withLock { $0 } == 20, "senders of overtaken snapshots are answered too")
    let kept = try place.store().load()
    #expect(kept.map(\.room) == ["a", "b"])
    #expect(kept.map(\.savedAt) == [7, 20])
    #expect(place.problems.all == [])
  }

  @Test func `a closed room is removed, and a late snapshot of it is refused`() async throws {
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
    #expect(place.problems.all == [], "a missing file is not reported")
  }

  @Test func `a file that cannot be removed is removed at the next write`() async throws {
    let disk = SimulatedDisk()
    let store = try SnapshotStore(directory: "/rooms", disk: disk)
    let (room, next) = (RoomLifetime("main"), RoomLifetime("other"))
    try store.start()
    func post(_ room: RoomLifetime) async -> Bool {
      await withCheckedContinuation { continuation in
        store.post(snapshot(room.name, savedAt: 1), of: room) { continuation.resume(returning: $0) }
      }
    }
    #expect(await post(room))
    let isGone = Mutex(false)
    disk.decide { $0.operation == .remove ? .error(EIO) : nil }
    let isRemoved = await withCheckedContinuation { continuation in
      store.remove(room) {
        continuation.resume(returning: $0)
      } whenGone: {
        isGone.withLock { $0 = true }
      }
    }
    #expect(!isRemoved && !isGone.withLock { $0 })
    disk.decide { _ in nil }
    #expect(await post(next))
    #expect(isGone.withLock { $0 })
    #expect(try disk.names(in: "/rooms").sorted() == ["other.json"])
    await store.close()
  }

  @Test func `an unremovable snapshot does not become a snapshot of a new room with the same name`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try SnapshotStore(directory: "/rooms", disk: disk)
    let (old, new, other) = (RoomLifetime("a"), RoomLifetime("a"), RoomLifetime("b"))
    try store.start()
    func post(_ room: RoomLifetime, _ number: UInt64) async -> Bool {
      await withCheckedContinuation { continuation in
        store.post(snapshot(room.name, savedAt: 1), number, of: room) {
          continuation.resume(returning: $0)
        }
      }
    }
    #expect(await post(old, 1))
    disk.decide { [.remove, .create].contains($0.operation) ? .error(EIO) : nil }
    let isGone = Mutex(false)
    let isRemoved = await withCheckedContinuation { continuation in
      store.remove(old) {
        continuation.resume(returning: $0)
      } whenGone: {
        isGone.withLock { $0 = true }
      }
    }
    #expect(!isRemoved)
    #expect(await !post(new, 2))
    disk.decide { _ in nil }
    #expect(await post(other, 1))
    // The snapshot with number 2 overtook this one, although number 2 was never written.
    #expect(await !post(new, 1))
    #expect(await post(new, 3))
    #expect(isGone.withLock { $0 })
    await store.close()
  }

  @Test func `a room opened under the name of a closed room is saved`() async throws {
    let place = Place()
    let store = try place.store()
    let room = RoomLifetime("main")
    store.post(snapshot("main", savedAt: 1), of: room)
    store.remove(room)
    store.post(snapshot("main", savedAt: 3), of: RoomLifetime("main"))
    await store.close()
    #expect(try place.store().load().map(\.savedAt) == [3])
  }

  @Test func `a closed store refuses everything and reports the refusal`() async throws {
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
      ("", "main"), ("{", "main"), (#"{"version":4}"#, "version 4"),
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
    let problem = try #require(place.problems.all.first)
    #expect(problem.contains("main.json cannot be used and was renamed to main.json.unreadable"))
    #expect(problem.contains(reason))
    #expect(FileManager.default.fileExists(atPath: place.path + "/main.json.unreadable"))
    #expect(try place.store().load().isEmpty)
    #expect(place.problems.all.count == 1, "the next start reports nothing new")
  }

  /// The files of a store that saved a room twice, at 1 and 2.
  private func written(in place: Place) async throws -> (newest: [UInt8], previous: [UInt8]) {
    let store = try place.store()
    let room = RoomLifetime("main")
    for time in 1...2 {
      await withCheckedContinuation { continuation in
        store.post(snapshot("main", savedAt: time), of: room) { _ in continuation.resume() }
      }
    }
    await store.close()
    return (try place.bytes("main.json"), try place.bytes("main.json.previous"))
  }

  @Test func `a snapshot with any byte changed is reported, and the previous one is restored`()
    async throws
  {
    let place = Place()
    let (newest, previous) = try await written(in: place)
    let store = try SnapshotStore(
      directory: place.path, onProblem: place.problems.add)
    for index in newest.indices {
      var rotten = newest
      rotten[index] ^= 1 << (index % 8)
      try place.write(rotten, to: "main.json")
      let saved = store.load("main")
      #expect(saved.snapshot?.savedAt == 1 && saved.isOlder, "byte \(index)")
      #expect(place.problems.removeAll().count == 2, "byte \(index)")
      #expect(try place.bytes("main.json.unreadable") == rotten)
    }
    // The same without a previous snapshot.
    var rotten = newest
    rotten[newest.count / 2] ^= 1
    try place.write(rotten, to: "main.json")
    try place.write(previous.dropLast(), to: "main.json.previous")
    let saved = store.load("main")
    #expect(saved.snapshot == nil && saved.isOlder)
    #expect(store.rooms() == [])
    #expect(place.problems.all.count == 2)
  }

  @Test
  func `a snapshot with an impossible number is reported, and the previous one is restored`()
    async throws
  {
    let place = Place()
    let (newest, _) = try await written(in: place)
    let text = String(decoding: newest, as: UTF8.self)
    let end = try #require(text.range(of: ",\"n\":1,\"crc\":"))
    let bare = String(text[..<end.lowerBound]) + "}"
    let numbers = bare.ranges(of: /":0[,}]/)
    #expect(numbers.count > 3)
    let store = try SnapshotStore(directory: place.path, onProblem: place.problems.add)
    for number in numbers {
      for forged in [Int.max, .min] {
        let digit = bare.index(number.lowerBound, offsetBy: 2)
        let line = bare.replacingCharacters(in: digit...digit, with: "\(forged)")
        try StateDirectory(place.path).replace("main.json", with: Array(line.utf8))
        let saved = store.load("main")
        #expect(saved.snapshot?.savedAt != 2 || saved.isOlder, "\(line)")
        let problem = try #require(place.problems.removeAll().first, "\(line)")
        #expect(problem.contains("main.json cannot be used"), "\(line)")
        #expect(
          problem.contains("exceeds the limits of a room") || problem.contains("out of range"),
          "\(problem)")
        try place.write(newest, to: "main.json")
      }
    }
  }

  @Test func `a snapshot truncated anywhere is not accepted`() async throws {
    let place = Place()
    let (newest, _) = try await written(in: place)
    let store = try SnapshotStore(directory: place.path)
    for count in newest.indices {
      try place.write(newest.prefix(count), to: "main.json")
      #expect(store.load("main").snapshot?.savedAt == 1, "\(count) bytes")
    }
  }

  @Test func `a snapshot of version 1 is read without a checksum, and a later version is not`()
    async throws
  {
    let place = Place()
    let (newest, _) = try await written(in: place)
    let text = String(decoding: newest, as: UTF8.self)
    let end = try #require(text.range(of: ",\"n\":1,\"crc\":"))
    let bare = text[..<end.lowerBound] + "}"
    let store = try SnapshotStore(directory: place.path)
    try place.write(bare.utf8, to: "main.json")
    #expect(store.load("main").snapshot?.savedAt == 1)
    let old = bare.replacing("\"version\":3", with: "\"version\":1")
    try place.write(old.utf8, to: "main.json")
    #expect(store.load("main").snapshot?.savedAt == 2)
  }

  @Test func `a room whose newest snapshot has not been renamed yet is restored`() async throws {
    let place = Place()
    let (newest, _) = try await written(in: place)
    let files = FileManager.default
    // Killed between the two steps that replace a snapshot.
    try files.moveItem(
      atPath: place.path + "/main.json", toPath: place.path + "/main.json.new")
    let store = try place.store()
    #expect(store.rooms() == ["main"])
    #expect(!files.fileExists(atPath: place.path + "/main.json.new"))
    let saved = store.load("main")
    #expect(saved.snapshot?.savedAt == 1 && !saved.isOlder)
    #expect(place.problems.all == [])
    // The file remains the previous snapshot until a newer one exists.
    let room = RoomLifetime("main")
    await withCheckedContinuation { continuation in
      store.post(snapshot("main", savedAt: 2), of: room) { _ in continuation.resume() }
    }
    await store.close()
    #expect(try place.bytes("main.json").count == newest.count)
    #expect(try place.store().load("main").snapshot?.savedAt == 2)
    #expect(files.fileExists(atPath: place.path + "/main.json.previous"))
  }

  @Test func `a snapshot is synced before it replaces another, and a failure is reported`()
    async throws
  {
    let disk = SimulatedDisk()
    let calls = Mutex<[String]>([])
    let isBroken = Atomic<Bool>(false)
    disk.decide { call in
      guard call.operation == .sync || call.operation == .rename else { return nil }
      calls.withLock { $0.append("\(call.operation.name) \(call.path)") }
      return call.operation == .sync && isBroken.load(ordering: .relaxed) ? .error(EIO) : nil
    }
    let store = try SnapshotStore(directory: "/rooms", disk: disk)
    try store.start()
    let room = RoomLifetime("main")
    func post(_ time: Int) async -> Bool {
      await withCheckedContinuation { continuation in
        store.post(snapshot("main", savedAt: time), of: room) {
          continuation.resume(returning: $0)
        }
      }
    }
    let replacement = [
      "sync /rooms/main.json.new", "rename /rooms/main.json", "rename /rooms/main.json.new",
    ]
    for time in [1, 2] {
      #expect(await post(time))
      #expect(calls.withLock { exchange(&$0, with: []) } == replacement)
    }
    isBroken.store(true, ordering: .relaxed)
    #expect(await !post(3))
    #expect(calls.withLock { exchange(&$0, with: []) } == Array(replacement.prefix(1)))
    #expect(store.failure?.reason.contains("Input/output error") == true)
    #expect(store.load("main").snapshot?.savedAt == 2, "the saved snapshot is kept")
    isBroken.store(false, ordering: .relaxed)
    #expect(await post(4))
    await store.close()
    #expect(try #require(disk.contents(of: "/rooms/main.json.previous")).count > 100)
    let next = try SnapshotStore(directory: "/rooms", disk: disk)
    #expect(next.load("main").snapshot?.savedAt == 4)
  }

  @Test func `no file of a closed room remains`() async throws {
    let place = Place()
    _ = try await written(in: place)
    let store = try place.store()
    await withCheckedContinuation { continuation in
      store.remove(RoomLifetime("main")) { _ in continuation.resume() }
    }
    await store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
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
    #expect(place.problems.all.count == 1)
  }
}

extension SnapshotStore {
  /// Returns all snapshots. The daemon loads them one at a time.
  fileprivate func load() -> [RoomSnapshot] { rooms().compactMap { load($0).snapshot } }
}
