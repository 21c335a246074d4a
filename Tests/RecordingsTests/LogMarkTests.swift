import RateLimiting
import Recordings
import TestSupport
import Testing

/// The marks before batches in the write-ahead log.
@Suite(.timeLimit(.minutes(1))) struct LogMarkTests {
  @Test func `a mark is read as it was written`() async throws {
    let directory = TemporaryDirectory()
    let plain = LogMark(room: "main", sequence: 7, after: 5)
    let recorded = LogMark(
      room: "main", sequence: 7, after: 5, recording: "main-20231114T221320Z.2")
    var marks = [LogMark(room: "main", sequence: 1, after: 0), plain, recorded]
    for mark in [plain, recorded] {
      var (opened, closed) = (mark, mark)
      opened.opened = 1_700_000_000_000
      closed.closed = true
      marks += [opened, closed]
    }

    let first = try RecordingLibrary(directory: directory.path + "/recordings")
    _ = try await first.recoverLog()
    let log = first.log("main") {}
    var batch = RecordedBatch()
    for mark in marks { batch.addMark(mark) }
    log.post(batch)
    await first.settle()
    first.close()

    let second = try RecordingLibrary(directory: directory.path + "/recordings")
    var steps: [RecordedStep] = []
    for segment in try await second.recoverLog().segments {
      var reader = RecordingReader(segment)
      while try reader.read(into: &steps) {}
    }
    #expect(steps.map { LogMark($0) } == marks)
    second.close()
  }
}
