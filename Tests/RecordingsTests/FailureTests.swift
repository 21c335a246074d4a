import Foundation
import Glibc
import Recordings
import Synchronization
import Testing

/// Whether this process may mount file systems.
private let mayMount: Bool = {
  guard getuid() == 0, let directory = try? TemporaryDirectory() else { return false }
  guard mount("tmpfs", directory.path, "tmpfs", 0, "size=64k") == 0 else { return false }
  umount2(directory.path, Int32(MNT_DETACH))
  return true
}()

/// A small file system of its own.
private final class SmallDisk {
  let directory: TemporaryDirectory

  init(flags: UInt = 0) throws {
    directory = try TemporaryDirectory()
    let result = mount("tmpfs", directory.path, "tmpfs", flags, "size=1m")
    try #require(result == 0)
  }

  deinit { umount2(directory.path, Int32(MNT_DETACH)) }
}

@Suite("Recordings that fail", .enabled(if: mayMount, "may not mount file systems"))
struct FailureTests {
  @Test("a full disk fails the recording, which keeps what was acknowledged")
  func full() async throws {
    let disk = try SmallDisk()
    var library = try RecordingLibrary(directory: disk.directory.path)
    let news = Mutex<[RecorderNews]>([])
    let recorder = try await library.start(room: "main", startedAt: 0) { new in
      news.withLock { $0.append(new) }
    }
    let steps = makeSteps(20_000)
    var acknowledged = 0
    for start in stride(from: 0, to: steps.count, by: 100) {
      await recorder.write(steps[start..<start + 100])
      if try await library.list().first?.state == .failed { break }
      acknowledged = start + 100
    }
    #expect((100..<20_000).contains(acknowledged))
    let failed = news.withLock { $0.last }
    guard case .failed(.file("write", _, ENOSPC)) = failed else {
      Issue.record("told \(String(describing: failed))")
      return
    }
    let told = try #require(try await library.list().first)
    #expect(told.reason?.contains("No space left on device") == true)
    #expect(told.events + told.frames == acknowledged)
    let read = try await library.steps(of: recorder.name)
    #expect(read == Array(steps.prefix(acknowledged)))
    // What comes after is dropped, and nobody waits for it.
    await recorder.write(steps.prefix(10))
    let end = try await recorder.finish(digest: nil, endedAt: 1)
    #expect(end.state == .failed)
    library.close()
    library = try RecordingLibrary(directory: disk.directory.path)
    defer { library.close() }
    #expect(try await library.list().first?.state == .failed)
    #expect(try await library.steps(of: recorder.name) == read)
  }

  @Test("recordings on a disk that became read-only are listed and can be read")
  func becameReadOnly() async throws {
    let directory = try TemporaryDirectory()
    var library = try RecordingLibrary(directory: directory.path)
    let steps = makeSteps(100)
    let summary = try await library.record(steps)
    library.close()
    let view = try TemporaryDirectory()
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

  @Test("a read-only directory is an error of the call, with a reason")
  func readOnly() async throws {
    let disk = try SmallDisk(flags: UInt(MS_RDONLY))
    let library = try RecordingLibrary(directory: disk.directory.path + "/recordings")
    defer { library.close() }
    let error = await #expect(throws: RecordingError.self) {
      _ = try await library.start(room: "main", startedAt: 0) { _ in }
    }
    #expect(error?.description.contains("Read-only file system") == true)
  }
}
