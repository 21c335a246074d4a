import RateLimiting
import Recordings
import Synchronization
import Testing

/// When the log asks for snapshots, so that its oldest segments can go.
@Suite(.timeLimit(.minutes(1))) struct LogCuttingTests {
  /// Logs one line for each of some rooms, and then whole segments. Returns how many rooms were asked at the second
  /// segment, at the third one, and so on.
  ///
  /// - Parameter areSaved: whether rooms that are asked are saved, and all go on in each segment. Otherwise nobody saves
  ///   any.
  private func asked(of rooms: Int, segments: Int, areSaved: Bool = false) async throws -> [Int] {
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
      return (name, recorder: library.log(name) {})
    }
    func logLines(_ number: Int) async {
      for (name, log) in logs {
        var batch = RecordedBatch()
        batch.addMark(LogMark(room: name, at: LogPosition(session: log.session, batch: number)))
        log.post(batch)
      }
      await library.settle()
    }
    await logLines(1)
    var counts: [Int] = []
    for segment in 2...segments {
      var batch = RecordedBatch()
      batch.addChange(
        #"{"text":"\#(String(repeating: "-", count: settings.segmentBytes))"}"#, at: .origin)
      logs[0].recorder.post(batch)
      await library.settle()
      let found = asked.withLock { exchange(&$0, with: []) }
      counts.append(found.count)
      guard areSaved else { continue }
      for room in found {
        library.noteSaving(room)
        library.noteSaved(room, isWritten: true)
      }
      await logLines(segment)
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

  @Test func `the second snapshot of a room is as far behind the first as the next ones are`()
    async throws
  {
    #expect(
      try await asked(of: 1_024, segments: 14, areSaved: true)
        == [0, 0, 0, 0] + Array(repeating: 256, count: 9))
  }
}
