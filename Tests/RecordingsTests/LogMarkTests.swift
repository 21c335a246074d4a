import RateLimiting
import Recordings
import TestSupport
import Testing

/// What the log that all rooms share says of the lines behind a mark.
@Suite(.timeLimit(.minutes(1))) struct LogMarkTests {
  @Test func `a mark is read as it was written`() async throws {
    let directory = TemporaryDirectory()
    var marks = [LogMark(room: "main", at: LogPosition(session: 1, batch: 1))]
    marks.append(marks[0])
    marks[1].opened = 1_700_000_000_000
    marks.append(marks[0])
    marks[2].after = LogPosition(session: 3, batch: 4)
    var end = RecordedPosition(recording: "main-20231114T221320Z")
    end.advance(by: 2, at: Instant(nanoseconds: 33_333_332))
    marks[2].recorded = end
    marks.append(marks[0])
    marks[3].closed = true

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
