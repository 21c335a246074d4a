import FileSystem
import Glibc
import RateLimiting
import RecorderFeature
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

/// The parts of a room in situations that a running room rarely meets.
@Suite(.timeLimit(.minutes(5))) struct RoomCompositionTests {
  private let home = TemporaryDirectory()

  @Test func `a batch that waits while its failed log writer is replaced is posted, not dropped`()
    async throws
  {
    let disk = SimulatedDisk()
    var settings = RecordingSettings()
    (settings.disk, settings.cataloguePath) = (disk, ":memory:")
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { library.close() }
    let writer = library.log("main") {}
    var log = RoomLog(of: "main", restoring: nil)
    log.begin(writer, rejected: [:], opened: 1)
    log.addFrame(at: .origin, flush: false)
    let isAnswered = Atomic(false)
    log.whenSynced { isAnswered.store(true, ordering: .relaxed) }
    // The batch of another room meets the fault, and the writers of all rooms fail.
    disk.decide { $0.operation == .write ? .error(EIO) : nil }
    let other = library.log("other") {}
    await withCheckedContinuation { continuation in
      var batch = RecordedBatch()
      batch.addFrame(at: .origin, flush: false)
      batch.whenSynced { continuation.resume() }
      other.post(batch)
    }
    #expect(writer.failure != nil)
    #expect(isAnswered.load(ordering: .relaxed) == false)
    log.begin(library.log("main") {}, rejected: [:], opened: nil)
    #expect(isAnswered.load(ordering: .relaxed) == true)
  }

  @Test func `pings that wait when the snapshot thread ends run`() async throws {
    // Closing takes far less time than starting a thread, so the thread finds both together.
    for round in 0..<20 {
      let store = try SnapshotStore(directory: home.path + "/\(round)")
      let pings = Atomic(0)
      for _ in 0..<3 { store.ping { pings.add(1, ordering: .relaxed) } }
      try store.start()
      await store.close()
      #expect(pings.load(ordering: .relaxed) == 3)
      store.ping { pings.add(1, ordering: .relaxed) }
      #expect(pings.load(ordering: .relaxed) == 4)
    }
  }

  @Test func `a recorder whose lane is gone finds no room`() async throws {
    let run = try KeptRooms(in: home.path + "/state")
    // Its lane is `nil`, as after the lane's end.
    let life = RoomLifetime("main")
    let recorder = run.recordings.recorder(of: life)
    #expect(try await recorder.stop(1) == nil)
    try await recorder.pause(1)
    await #expect(throws: (any Error).self) { try await recorder.resume(1) }
    // The recording that it started for nobody is removed.
    await #expect(throws: CancellationError.self) { try await recorder.start(1) }
    #expect(try await run.library.list().isEmpty)
    try await run.end()
  }
}
