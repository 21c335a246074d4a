import Foundation
import Glibc
import LiveEvents
import Recordings
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: SmallDisk.isAvailable, "requires the right to mount file systems"))
struct FailureTests {
  @Test(arguments: [true, false])
  func `a full disk fails the recording, which keeps the copied batches`(
    isLogOnIt: Bool
  ) async throws {
    let (disk, directory) = (try SmallDisk(), TemporaryDirectory())
    func open() throws -> RecordingLibrary {
      try RecordingLibrary(
        directory: disk.path + "/recordings",
        log: (isLogOnIt ? disk.path : directory.path) + "/log",
        settings: RecordingSettings().syncingAtOnce)
    }
    var library = try open()
    let events = Mutex<[RecordingEvent]>([])
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record { new in events.withLock { $0.append(new) } }
    let steps = makeSteps(20_000)
    var copied = 0
    for start in stride(from: 0, to: steps.count, by: 100) {
      await room.write(steps[start..<start + 100])
      #expect(
        try await library.list().first?.state == (recorder.failure == nil ? .recording : .failed))
      if recorder.failure != nil { break }
      copied = start + 100
    }
    #expect((100..<20_000).contains(copied))
    guard case .file("write", _, ENOSPC) = recorder.failure else {
      Issue.record("failed by \(String(describing: recorder.failure))")
      return
    }
    #expect(events.withLock { $0.last } == recorder.failure.map { .failed($0) })
    let listed = try #require(try await library.list().first)
    #expect(listed.reason?.contains("No space left on device") == true)
    #expect(listed.events + listed.frames == copied)
    let read = try await library.steps(of: recorder.name)
    #expect(read == Array(steps.prefix(copied)))
    // Later steps are not copied, and no caller waits for them.
    await room.write(steps.prefix(10))
    #expect(isLogOnIt || room.log.failure == nil)
    #expect(recorder.waitingSteps == 0)
    let end = try await recorder.finish(digest: nil, endedAt: 1)
    #expect(end.state == .failed)
    library.close()
    library = try open()
    defer { library.close() }
    #expect(try await library.list().first?.state == .failed)
    #expect(try await library.steps(of: recorder.name) == read)
  }

  @Test func `recordings on a disk that became read-only are listed and can be read`() async throws
  {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory)
    let steps = makeSteps(100)
    let summary = try await library.record(steps)
    library.close()
    let view = TemporaryDirectory()
    try #require(mount(directory.path, view.path, "", UInt(MS_BIND), "") == 0)
    defer { umount2(view.path, Int32(MNT_DETACH)) }
    let flags = UInt(MS_REMOUNT | MS_BIND | MS_RDONLY)
    try #require(mount("", view.path, "", flags, "") == 0)
    library = try RecordingLibrary(in: view)
    defer { library.close() }
    #expect(try await library.list() == [summary])
    #expect(try await library.steps(of: summary.name) == steps)
    await #expect(throws: RecordingError.self) {
      _ = try await library.start(room: "main", startedAt: 0) { _ in }
    }
  }

  @Test func `starting a recording in a read-only directory fails with the reason`() async throws {
    let disk = try SmallDisk(flags: MS_RDONLY)
    let library = try RecordingLibrary(directory: disk.path + "/recordings")
    defer { library.close() }
    let error = await #expect(throws: RecordingError.self) {
      _ = try await library.start(room: "main", startedAt: 0) { _ in }
    }
    #expect(error?.description.contains("Read-only file system") == true)
  }
}
