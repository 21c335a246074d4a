import FileSystem
import Glibc
import Recordings
import SimulatedDisk
import SystemSupport
import TestSupport
import Testing

@Suite struct DeletionTests {
  @Test func `deleting a recording leaves the other recordings`() async throws {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk)
    settings.segmentBytes = 8 << 10
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { library.close() }
    let first = try await library.record(makeSteps(900))
    let second = try await library.record(makeSteps(20), room: "other")
    #expect(try await library.delete(first.name) == first)
    #expect(try await library.list() == [second])
    #expect(try disk.names(in: "/recordings") == [second.name])
    await #expect(throws: RecordingError.noSuchRecording(first.name)) {
      try await library.delete(first.name)
    }
    await #expect(throws: RecordingError.noSuchRecording("..")) { try await library.delete("..") }
    // A new recording with the same name is a different one.
    #expect(try await library.record(makeSteps(30)).name == first.name)
    #expect(try await library.steps(of: first.name) == makeSteps(30))
  }

  @Test func `a recording cannot be deleted while it is written or read`() async throws {
    let disk = SimulatedDisk()
    let library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk))
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    let name = recorder.name
    func isInUse() async -> Bool {
      do throws(RecordingError) {
        _ = try await library.delete(name)
        return false
      } catch {
        return error == .inUse(name)
      }
    }
    await room.write(makeSteps(20))
    #expect(await isInUse())
    let summary = try await recorder.finish(digest: nil, endedAt: 1)
    var readers = [try await library.files(of: name), try await library.files(of: name)]
    #expect(await isInUse())
    readers.removeLast()
    #expect(await isInUse())
    #expect(try await library.list() == [summary])
    // A reader without protection.
    let free = readers.removeLast().withoutUse
    #expect(await !isInUse())
    #expect(free.name == name)
    #expect(try await library.list().isEmpty)
  }

  @Test(arguments: [true, false], [DiskFault.powerLoss, .processEnd])
  func `a crash before any call of a deletion leaves the whole recording or none of it`(
    keepsCatalogue: Bool, fault: DiskFault
  ) async throws {
    var hasCrashed = true
    var outcomes: Set<Int> = []
    var call = 0
    while hasCrashed {
      call += 1
      let directory = TemporaryDirectory(in: "/dev/shm")
      let disk = SimulatedDisk(seed: UInt64(call))
      try disk.makeDirectory("/recordings")
      try disk.syncDirectory("/")
      let path = keepsCatalogue ? directory.path + "/catalogue" : ":memory:"
      var settings = RecordingSettings(on: disk, cataloguePath: path)
      settings.segmentBytes = 8 << 10
      let messages = Messages()
      var library = try RecordingLibrary(directory: "/recordings", settings: settings)
      let summary = try await library.record(makeSteps(900))
      #expect(summary.segments > 3)
      let crash = disk.calls + call
      disk.decide { $0.number == crash ? fault : nil }
      let isDeleted = (try? await library.delete(summary.name)) != nil
      library.close()
      hasCrashed = disk.hasEnded
      disk.restart()
      library = try RecordingLibrary(
        directory: "/recordings", settings: settings, onProblem: messages.add)
      let list = try await library.list()
      outcomes.insert(list.count)
      if list.isEmpty {
        #expect(try disk.names(in: "/recordings").isEmpty, "crash at call \(call)")
      } else {
        #expect(list == [summary] && !isDeleted, "crash at call \(call)")
        #expect(try await library.steps(of: summary.name) == makeSteps(900))
      }
      #expect(messages.all == [])
      library.close()
    }
    #expect(outcomes == [0, 1] && call > 6)
  }

  @Test(arguments: [SystemError.Operation.rename, .syncDirectory])
  func `a failed deletion leaves the recording unchanged`(
    operation: SystemError.Operation
  ) async throws {
    let disk = SimulatedDisk()
    let library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk))
    defer { library.close() }
    let summary = try await library.record(makeSteps(20))
    disk.decide { $0.operation == operation ? .error(EIO) : nil }
    await #expect(throws: RecordingError.self) { try await library.delete(summary.name) }
    disk.decide { _ in nil }
    #expect(try await library.list() == [summary])
    #expect(try await library.steps(of: summary.name) == makeSteps(20))
    #expect(try disk.names(in: "/recordings") == [summary.name])
  }
}
