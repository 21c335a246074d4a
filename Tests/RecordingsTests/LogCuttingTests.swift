import FileSystem
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

/// The times at which the log requests snapshots, so that its oldest segments can be removed.
@Suite(.timeLimit(.minutes(1))) struct LogCuttingTests {
  /// Logs one line for each room, and then whole segments.
  ///
  /// - Parameter areSaved: whether the requested snapshots are written, and all rooms continue in
  ///   each segment. Otherwise no snapshot is written.
  /// - Returns: how many snapshots were requested at the second segment, at the third one, and so
  ///   on.
  private func asked(of rooms: Int, segments: Int, areSaved: Bool = false) async throws -> [Int] {
    let directory = TemporaryDirectory()
    var settings = RecordingSettings()
    settings.segmentBytes = 1 << 20
    let library = try RecordingLibrary(
      directory: directory.path + "/recordings", settings: settings)
    _ = try await library.recoverLog()
    let asked = Mutex<Set<String>>([])
    let logs = (0..<rooms).map { number in
      let name = "room-\(number)"
      library.keep(name) { room in asked.withLock { _ = $0.insert(room) } }
      return (name, log: library.log(name) {})
    }
    func logLines() async {
      for (name, log) in logs {
        var batch = RecordedBatch()
        batch.addMark(LogMark(room: name, sequence: log.nextSequence(), after: 0))
        log.post(batch)
      }
      await library.settle()
    }
    await logLines()
    var counts: [Int] = []
    for _ in 2...segments {
      var batch = RecordedBatch()
      batch.addChange(
        #"{"text":"\#(String(repeating: "-", count: settings.segmentBytes))"}"#, at: .origin)
      logs[0].log.post(batch)
      await library.settle()
      let found = asked.withLock { exchange(&$0, with: []) }
      counts.append(found.count)
      guard areSaved else { continue }
      for room in found {
        library.noteSaving(room)
        library.noteSaved(room, isWritten: true)
      }
      await logLines()
    }
    library.close()
    return counts
  }

  @Test func `the remaining bytes are reported while the log is read`() async throws {
    let disk = SimulatedDisk()
    var settings = RecordingSettings.small
    settings.disk = disk
    let directory = TemporaryDirectory()
    settings.cataloguePath = directory.path + "/catalogue"
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let room = try await LoggedRoom(in: library)
    let text = String(repeating: "-", count: settings.segmentBytes / 2)
    for _ in 1...20 { await room.write([.change(#"{"text":"\#(text)"}"#, at: .origin)]) }
    library.close()
    // The reader never gets past the middle.
    let start = disk.bytesRead
    let whole = try RecordingLibrary(directory: "/recordings", settings: settings)
    _ = try await whole.recoverLog()
    let bytes = disk.bytesRead - start
    #expect(whole.bytesToRecover == 0)
    whole.close()
    let middle = disk.bytesRead + bytes / 2
    disk.decide { call in call.operation == .read && disk.bytesRead > middle ? .never : nil }
    let reading = try RecordingLibrary(directory: "/recordings", settings: settings)
    let recovery = Task { _ = try? await reading.recoverLog() }
    await disk.hasCaught()
    #expect((1..<bytes * 6 / 10).contains(reading.bytesToRecover))
    disk.decide { _ in nil }
    disk.release()
    await recovery.value
    #expect(reading.bytesToRecover == 0)
    reading.close()
  }

  @Test func `snapshots of a few rooms are requested once the log is two segments ahead`()
    async throws
  {
    #expect(try await asked(of: 3, segments: 4) == [0, 3, 3])
  }

  @Test func `with many rooms the log is longer, and snapshots are requested at different times`()
    async throws
  {
    #expect(
      try await asked(of: 1_024, segments: 10) == [0, 0, 0, 0, 256, 512, 768, 1_024, 1_024])
  }

  @Test func `the second snapshot of a room follows the first at the same distance as later ones`()
    async throws
  {
    #expect(
      try await asked(of: 1_024, segments: 14, areSaved: true)
        == [0, 0, 0, 0] + Array(repeating: 256, count: 9))
  }
}
