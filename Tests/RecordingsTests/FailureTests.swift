import Foundation
import Glibc
import LiveEvents
import Recordings
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: SmallDisk.isAvailable, "may not mount file systems"))
struct FailureTests {
  @Test func `a full disk fails the recording, which keeps what was acknowledged`() async throws {
    let disk = try SmallDisk()
    var library = try RecordingLibrary(directory: disk.path)
    let events = Mutex<[RecordingEvent]>([])
    let recorder = try await library.start(room: "main", startedAt: 0) { new in
      events.withLock { $0.append(new) }
    }
    let steps = makeSteps(20_000)
    var acknowledged = 0
    for start in stride(from: 0, to: steps.count, by: 100) {
      await recorder.write(steps[start..<start + 100])
      #expect(
        try await library.list().first?.state == (recorder.failure == nil ? .recording : .failed))
      if recorder.failure != nil { break }
      acknowledged = start + 100
    }
    // By then the failure has been reported as well.
    await library.settle()
    #expect((100..<20_000).contains(acknowledged))
    guard case .file("write", _, ENOSPC) = recorder.failure else {
      Issue.record("failed by \(String(describing: recorder.failure))")
      return
    }
    let failed = events.withLock { $0.last }
    guard case .failed(.file("write", _, ENOSPC)) = failed else {
      Issue.record("reported \(String(describing: failed))")
      return
    }
    let listed = try #require(try await library.list().first)
    #expect(listed.reason?.contains("No space left on device") == true)
    #expect(listed.events + listed.frames == acknowledged)
    let read = try await library.steps(of: recorder.name)
    #expect(read == Array(steps.prefix(acknowledged)))
    // Later steps are dropped without waiting.
    await recorder.write(steps.prefix(10))
    let end = try await recorder.finish(digest: nil, endedAt: 1)
    #expect(end.state == .failed)
    library.close()
    library = try RecordingLibrary(directory: disk.path)
    defer { library.close() }
    #expect(try await library.list().first?.state == .failed)
    #expect(try await library.steps(of: recorder.name) == read)
  }

  @Test func `recordings on a disk that became read-only are listed and can be read`() async throws
  {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(directory: directory.path)
    let steps = makeSteps(100)
    let summary = try await library.record(steps)
    library.close()
    let view = TemporaryDirectory()
    try #require(mount(directory.path, view.path, "", UInt(MS_BIND), "") == 0)
    defer { umount2(view.path, Int32(MNT_DETACH)) }
    let flags = UInt(MS_REMOUNT | MS_BIND | MS_RDONLY)
    try #require(mount("", view.path, "", flags, "") == 0)
    library = try RecordingLibrary(directory: view.path)
    defer { library.close() }
    #expect(try await library.list() == [summary])
    #expect(try await library.steps(of: summary.name) == steps)
    await #expect(throws: RecordingError.self) {
      _ = try await library.start(room: "main", startedAt: 0) { _ in }
    }
  }

  @Test func `a read-only directory makes the call fail with a reason`() async throws {
    let disk = try SmallDisk(flags: MS_RDONLY)
    let library = try RecordingLibrary(directory: disk.path + "/recordings")
    defer { library.close() }
    let error = await #expect(throws: RecordingError.self) {
      _ = try await library.start(room: "main", startedAt: 0) { _ in }
    }
    #expect(error?.description.contains("Read-only file system") == true)
  }
}
