import ControlInterface
import Foundation
import Ingest
import LiveEvents
import Logging
import NIOCore
import NIOPosix
import Recordings
import Rooms
import Synchronization
import SystemSupport
import Systemd
import TestSupport
import Testing
import WireFormats

/// Rooms whose saved state was damaged while the daemon was not running.
@Suite(.timeLimit(.minutes(1))) struct DamagedStateTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  private func spoil(_ file: String) throws {
    let url = URL(fileURLWithPath: file)
    var bytes = try Data(contentsOf: url)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: url)
  }

  /// Starts a new run, with recordings.
  private func restart(in path: String) async throws -> KeptRooms {
    let run = try KeptRooms(in: path)
    await run.recordings.open()
    await run.restore()
    return run
  }

  /// Performs a run in which `main` receives ten messages and is saved twice.
  private func begin() async throws -> KeptRooms {
    for end in [5, 10] {
      let run = try KeptRooms(in: path)
      await run.restore()
      if end == 5 { _ = try run.directory.open(.main) }
      await run.send(end - 5..<end)
      try await run.end()
    }
    let run = try await restart(in: path)
    // Each run begins a segment of the log, which saves the room again after the log is synced.
    for _ in 0..<2 {
      await run.library.settle()
      await run.settle()
    }
    return run
  }

  @Test(arguments: [["main.json"], ["main.json", "main.json.previous"]])
  func `a recorded room with damaged saved state is restored from the log and recorded further`(
    _ spoiled: [String]
  ) async throws {
    var run = try await begin()
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<200)
    var copy = try run.kill()
    try await run.end()
    for file in spoiled { try spoil("\(copy)/rooms/\(file)") }
    run = try await restart(in: copy)
    #expect(await run.count() == 200)
    #expect(run.log.contain("main.json cannot be used and was renamed to main.json.unreadable"))
    #expect(
      run.log.contain("room main is restored from its previous snapshot")
        == (spoiled.count == 1))
    await run.send(200..<210)
    await run.library.settle()
    let list = try await run.recordings.list(.main).recordings
    #expect(list.map(\.state) == [.recording] && list.map(\.events) == [200])
    copy = try run.kill()
    try await run.end()
    run = try await restart(in: copy)
    #expect(await run.count() == 210)
    #expect(!run.log.contain("cannot be used") && run.store.losses.isEmpty)
    try await run.end()
  }

  @Test func `events logged before a recording are restored once, even after a second restart`()
    async throws
  {
    let first = try await begin()
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

  @Test func `events after a recording are restored although the newest saved state is damaged`()
    async throws
  {
    var run = try await begin()
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
      #expect(run.store.losses.isEmpty && !run.log.contain("does not continue"), "\(run.log.all)")
      #expect(try await run.recordings.list(.main).recordings.map(\.state) == [.finished])
      await run.send(30..<40)
    }
    try await run.end()
  }

  @Test(arguments: [false, true])
  func `events after a recording and a restart are restored although the newest state is damaged`(
    isLogged: Bool
  ) async throws {
    var run = try await begin()
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
      #expect(run.store.losses.isEmpty && !run.log.contain("does not continue"), "\(run.log.all)")
      await run.send(30..<40)
      await run.settle()
    }
    try await run.end()
  }

  @Test func `if a recording replaced another since the last save, the newer recording continues`()
    async throws
  {
    var run = try await begin()
    let replaced = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(10..<20)
    // Starting a recording saves the room.
    try await run.end()
    run = try await restart(in: path)
    let stopped = try await run.recordings.stop(.main, on: run.lane)
    #expect(stopped.recording == replaced && stopped.events == 10)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(20..<30)
    let copy = try run.kill()
    try await run.end()
    run = try await restart(in: copy)
    #expect(await run.count() == 30)
    #expect(run.store.losses.isEmpty && !run.log.contain("does not continue"), "\(run.log.all)")
    await run.send(30..<40)
    #expect(try await run.recordings.stop(.main, on: run.lane).events == 20)
    try await run.end()
  }

  @Test func `an unrecorded room with a damaged newest state is restored from the previous state`()
    async throws
  {
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
    // With the log, no event is lost.
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

  @Test func `the saved state of a room is kept until the room has replayed all later log records`()
    async throws
  {
    let first = try await begin()
    _ = try await first.recordings.start(.main, on: first.lane)
    await first.send(10..<200)
    let copy = try first.kill()
    try await first.end()

    let second = try KeptRooms(in: copy)
    let snapshot = try #require(second.store.load("main").snapshot)
    _ = try second.directory.open(.main, restoring: snapshot)
    await second.settle()
    #expect(second.store.load("main").snapshot?.sequence == snapshot.sequence)
    // Killing the daemon here makes the next start begin the replay again.
    let third = try KeptRooms(in: try second.kill())
    await third.restore()
    #expect(await third.count() == 200)
    try await third.end()
    try await second.end()
  }
}
