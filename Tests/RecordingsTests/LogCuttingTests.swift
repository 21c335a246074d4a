import RateLimiting
import Recordings
import Synchronization
import Testing

/// When the log asks for snapshots, so that its oldest segments can go.
@Suite(.timeLimit(.minutes(1))) struct LogCuttingTests {
  /// Logs one line for each of some rooms, and then whole segments. Returns how many rooms were asked at the second
  /// segment, at the third one, and so on; nobody saves any.
  private func asked(of rooms: Int, segments: Int) async throws -> [Int] {
    let directory = try TemporaryDirectory()
    var settings = RecordingSettings()
    settings.segmentBytes = 1 << 20
    let library = try RecordingLibrary(
      directory: directory.path + "/recordings", settings: settings)
    _ = try await library.recoverLog()
    let asked = Mutex<Set<String>>([])
    let logs = (0..<rooms).map { number in
      let name = "room-\(number)"
      library.keep(name) { room in asked.withLock { _ = $0.insert(room) } }
      let log = library.log(name) {}
      var batch = RecordedBatch()
      batch.addMark(LogMark(room: name, at: LogPosition(session: log.session, batch: 1)))
      log.post(batch)
      return log
    }
    await library.settle()
    var counts: [Int] = []
    for _ in 2...segments {
      var batch = RecordedBatch()
      batch.addChange(
        #"{"text":"\#(String(repeating: "-", count: settings.segmentBytes))"}"#, at: .origin)
      logs[0].post(batch)
      await library.settle()
      counts.append(asked.withLock { exchange(&$0, with: []).count })
    }
    library.close()
    return counts
  }

  @Test func `a few rooms are saved once the log is two segments ahead`() async throws {
    #expect(try await asked(of: 3, segments: 4) == [0, 3, 3])
  }

  @Test func `the log of many rooms may be longer, and they are not asked all at once`()
    async throws
  {
    #expect(
      try await asked(of: 1_024, segments: 10) == [0, 0, 0, 0, 256, 512, 768, 1_024, 1_024])
  }
}
