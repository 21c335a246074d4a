import ControlInterface
import Foundation
import Ingest
import LiveEvents
import LivehostDaemon
import Logging
import NIOCore
import NIOPosix
import Platform
import Recordings
import Synchronization
import Systemd
import TestSupport
import Testing
import WireFormats

/// Rooms whose saved state, or the recording behind it, was spoiled while the daemon was not running.
@Suite(.timeLimit(.minutes(1))) struct DamagedStateTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  private func spoil(_ file: String) throws {
    let url = URL(fileURLWithPath: file)
    var bytes = try Data(contentsOf: url)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: url)
  }

  /// Catalogues say how long files were; without one that is found out from the files.
  private func removeCatalogue(in path: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: path + "/recordings")
    where file.hasPrefix("catalogue") {
      try FileManager.default.removeItem(atPath: "\(path)/recordings/\(file)")
    }
  }

  /// Starts again, with recordings.
  ///
  /// - Parameter before: all that can be read of the saved state of `main` by then; `nil` leaves that as it is.
  private func restart(in path: String, leaving before: Data? = nil) async throws -> KeptRooms {
    if let before {
      try before.write(to: URL(fileURLWithPath: path + "/rooms/main.json.previous"))
      try spoil(path + "/rooms/main.json")
    }
    let run = try KeptRooms(in: path)
    await run.recordings.open()
    await run.restore()
    return run
  }

  /// Records 200 messages in `main`, with more of the room in its recording than in its saved state.
  private func record(_ run: KeptRooms) async throws -> String {
    _ = try run.directory.open(.main)
    await run.settle()
    let recording = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(0..<200)
    return recording
  }

  @Test(arguments: [["main.json"], ["main.json", "main.json.previous"]])
  func `a recorded room whose saved state is spoiled comes back from its recording`(
    _ spoiled: [String]
  ) async throws {
    let first = try KeptRooms(in: path)
    _ = try await record(first)
    let copy = try first.kill()
    try await first.end()
    for file in spoiled where FileManager.default.fileExists(atPath: "\(copy)/rooms/\(file)") {
      try spoil("\(copy)/rooms/\(file)")
    }

    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(await second.count() == 200)
    #expect(second.log.contain("main.json cannot be used and was renamed to main.json.unreadable"))
    await second.send(200..<210)
    let list = try await second.recordings.list(.main).recordings
    #expect(list.map(\.state) == [.recording])
    #expect(list.first?.events == 210)
    try await second.end()

    let third = try KeptRooms(in: copy)
    await third.restore()
    #expect(await third.count() == 210)
    #expect(third.log.contain("cannot be used") == false)
    try await third.end()
  }

  @Test func `a recorded room comes back from the state before and what was recorded since`()
    async throws
  {
    let first = try KeptRooms(in: path)
    _ = try await record(first)
    try await first.end()
    try spoil(path + "/rooms/main.json")
    let second = try KeptRooms(in: path)
    await second.restore()
    #expect(await second.count() == 200)
    #expect(second.log.contain("room main comes back in the state that was saved before that"))
    try await second.end()
  }

  @Test func `what was logged before a recording is there once, also after a second restart`()
    async throws
  {
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    await first.send(0..<10)
    _ = try await first.recordings.start(.main, on: first.lane)
    await first.send(10..<20)
    var copy = try first.kill()
    try await first.end()
    try spoil(copy + "/rooms/main.json")
    let second = try await restart(in: copy)
    #expect(await second.count() == 20)
    copy = try second.kill()
    try await second.end()
    let third = try await restart(in: copy)
    #expect(await third.count() == 20)
    try await third.end()
  }

  @Test
  func `the recording that follows saved state is the one that says so, whatever the clock says`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    // Of another life of the room, and later by the clock.
    let tomorrow = WallClock.milliseconds() + 86_400_000
    let foreign = try await run.library.start(room: "main", startedAt: tomorrow) { _ in }
    try await foreign.interrupt(endedAt: tomorrow)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<20)
    let copy = try run.kill()
    try await run.end()
    try spoil(copy + "/rooms/main.json")
    run = try await restart(in: copy)
    #expect(await run.count() == 20)
    #expect(run.store.losses.isEmpty, "\(run.log.all)")
    await run.send(20..<30)
    #expect(try await run.recordings.stop(.main, on: run.lane).events == 20)
    try await run.end()
  }

  @Test func `what came after a recording is there, though the newest saved state is spoiled`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<20)
    _ = try await run.recordings.stop(.main, on: run.lane)
    await run.send(20..<30)
    for count in [30, 40] {
      let copy = try run.kill()
      try await run.end()
      if count == 30 { try spoil(copy + "/rooms/main.json") }
      run = try await restart(in: copy)
      #expect(await run.count() == count)
      #expect(run.store.losses.isEmpty && !run.log.contain("lead on"), "\(run.log.all)")
      #expect(try await run.recordings.list(.main).recordings.map(\.state) == [.finished])
      await run.send(30..<40)
    }
    try await run.end()
  }

  @Test(arguments: [false, true])
  func `what came after a restart behind a recording is there, though the newest state is spoiled`(
    isLogged: Bool
  ) async throws {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<20)
    _ = try await run.recordings.pause(.main, on: run.lane)
    if isLogged { await run.send(20..<30) }
    for isSpoiled in [false, true] {
      let copy = try run.kill()
      try await run.end()
      if isSpoiled { try spoil(copy + "/rooms/main.json") }
      run = try await restart(in: copy)
      let count = (isLogged ? 30 : 20) + (isSpoiled ? 10 : 0)
      #expect(await run.count() == count)
      #expect(run.store.losses.isEmpty && !run.log.contain("lead on"), "\(run.log.all)")
      await run.send(30..<40)
      await run.settle()
    }
    try await run.end()
  }

  @Test func `a recording that replaced another goes on, though the newest saved state is spoiled`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    let replaced = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(0..<10)
    await run.settle()
    let before = try Data(contentsOf: URL(fileURLWithPath: path + "/rooms/main.json"))
    #expect(String(decoding: before, as: UTF8.self).contains(replaced))
    _ = try await run.recordings.stop(.main, on: run.lane)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<20)
    await run.settle()
    let copy = try run.kill()
    try await run.end()
    // The disk was slow, so that nothing was saved between the two recordings.
    run = try await restart(in: copy, leaving: before)
    #expect(await run.count() == 20)
    #expect(run.store.losses.isEmpty && !run.log.contain("lead on"), "\(run.log.all)")
    await run.send(20..<30)
    #expect(try await run.recordings.stop(.main, on: run.lane).events == 20)
    try await run.end()
  }

  @Test func `a recording without its end is played once, though the newest state is spoiled`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    try await run.end()
    let before = try Data(contentsOf: URL(fileURLWithPath: path + "/rooms/main.json"))
    run = try await restart(in: path)
    let recording = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(10..<20)
    _ = try await run.recordings.pause(.main, on: run.lane)
    await run.send(20..<30)
    await run.settle()
    let copy = try run.kill()
    try await run.end()
    // The log says that it goes on behind the end of the recording, but the disk has lost that.
    let segment = URL(fileURLWithPath: "\(copy)/recordings/\(recording)/000001.ndjson")
    let bytes = try Data(contentsOf: segment)
    let last = try #require(bytes.range(of: Data("number 19".utf8))).upperBound
    let end = try #require(bytes[last...].firstIndex(of: UInt8(ascii: "\n")))
    try bytes[...end].write(to: segment)
    try removeCatalogue(in: copy)
    run = try await restart(in: copy, leaving: before)
    #expect(await run.count() == 20)
    #expect(run.log.contain("does not lead on"), "\(run.log.all)")
    try await run.end()
  }

  @Test func `a room that is not recorded comes back in the state before`() async throws {
    for end in 1...2 {
      let run = try KeptRooms(in: path)
      await run.restore()
      if end == 1 { _ = try run.directory.open(.main) }
      await run.send((end - 1) * 10..<end * 10)
      try await run.end()
    }
    let copy = path + "+"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try spoil(copy + "/rooms/main.json")
    // With the log, nothing is missing.
    try FileManager.default.copyItem(atPath: copy, toPath: path + "++")
    let whole = try KeptRooms(in: path + "++")
    await whole.restore()
    #expect(await whole.count() == 20)
    try await whole.end()
    try FileManager.default.removeItem(atPath: copy + "/log")
    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(await second.count() == 10)
    try await second.end()
  }

  /// Makes the saved state of `main` later by the clock, which then was set back: the room's time does not go on
  /// while the daemon is not running.
  private func saveAgain(in path: String, later milliseconds: Int) async throws {
    let store = try SnapshotStore(directory: path + "/rooms")
    try store.start()
    let saved = try #require(store.load("main").snapshot)
    store.post(
      RoomSnapshot(
        room: "main", savedAt: saved.savedAt + milliseconds, instant: saved.instant,
        screen: saved.screen, recording: saved.recording, log: saved.log), of: RoomLifetime("main"))
    await store.close()
  }

  @Test
  func `saved state that is newer than what is left of its recording stays, and that is told`()
    async throws
  {
    let first = try KeptRooms(in: path)
    let recording = try await record(first)
    try await first.end()
    let copy = path + "+"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    // The disk has lost all but the first line.
    let segment = URL(fileURLWithPath: "\(copy)/recordings/\(recording)/000001.ndjson")
    let bytes = try Data(contentsOf: segment)
    try bytes.prefix(through: try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))).write(
      to: segment)
    try removeCatalogue(in: copy)

    try await saveAgain(in: copy, later: 1_000_000)

    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(await second.count() == 200)
    #expect(
      second.log.contain("the saved state of room main is newer than what is left of its recording")
    )
    await second.send(200..<210)
    #expect(try await second.recordings.list(.main).recordings.map(\.events) == [10])
    let third = try KeptRooms(in: try second.kill())
    await third.restore()
    #expect(await third.count() == 210)
    #expect(third.log.contain("newer than") == false)
    try await third.end()
    try await second.end()
  }

  @Test func `what is saved of a room stays until the room has seen what was recorded since`()
    async throws
  {
    let first = try KeptRooms(in: path)
    let recording = try await record(first)
    let copy = try first.kill()
    try await first.end()

    let second = try KeptRooms(in: copy)
    let snapshot = try #require(second.store.load("main").snapshot)
    #expect(snapshot.recording?.recording == recording)
    _ = try second.directory.open(.main, restoring: snapshot)
    await second.settle()
    #expect(second.store.load("main").snapshot?.recording == snapshot.recording)
    // Killed here, the next start begins again.
    let third = try KeptRooms(in: try second.kill())
    await third.restore()
    #expect(await third.count() == 200)
    try await third.end()
    try await second.end()
  }
}
