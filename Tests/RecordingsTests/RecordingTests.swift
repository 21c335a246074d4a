import Foundation
import LiveEvents
import RateLimiting
import Recordings
import TestSupport
import Testing

@Suite struct RecordingTests {
  @Test func `a recording over many segments is read step by step`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let steps = makeSteps(2_000)
    let summary = try await library.record(steps)
    #expect(summary.state == .finished)
    #expect(summary.segments > 10)
    #expect(summary.events + summary.frames == steps.count)
    #expect(try await library.list() == [summary])
    #expect(try await library.steps(of: summary.name) == steps)
  }

  @Test func `changes with any text are read unchanged and in order`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    var steps: [RecordedStep] = []
    for (index, step) in makeSteps(400).enumerated() {
      steps.append(step)
      guard index % 7 == 0 else { continue }
      let text = #"{"control":"zoom \#(index) ,\"change\":{ é","value":0.5}"#
      steps.append(.change(text, at: step.instant))
    }
    let summary = try await library.record(steps)
    #expect(summary.events + summary.frames == 400, "a change is neither")
    #expect(try await library.steps(of: summary.name) == steps)
  }

  @Test func `every event is one line of JSON that other programs can read`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let summary = try await library.record(makeSteps(50))
    let path = try await library.files(of: summary.name).segments[0].path
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for line in text.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let members = try #require(object as? [String: Any])
      #expect(members["type"] is String)
    }
  }

  @Test func `reading from an instant returns later steps and skips earlier segments`()
    async throws
  {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let steps = makeSteps(2_000)
    let summary = try await library.record(steps)
    for index in [0, 1, 700, 1_999] {
      let start = steps[index].instant
      let expected = steps.filter { $0.instant >= start }
      #expect(try await library.steps(of: summary.name, from: start) == expected)
    }
    let late = Instant(nanoseconds: (steps.last?.instant.nanoseconds ?? 0) + 1)
    #expect(try await library.steps(of: summary.name, from: late).isEmpty)
    var reader = RecordingReader(
      try await library.files(of: summary.name), from: steps[1_999].instant)
    #expect(reader.bytesRead > 50_000, "segments before are not read")
    var read: [RecordedStep] = []
    while try reader.read(into: &read) {}
    #expect(reader.bytesRead == summary.bytes)
  }

  @Test func `a recording being written is listed with its current contents and can be read`()
    async throws
  {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    let steps = makeSteps(300)
    await room.write(steps)
    let summary = try #require(try await library.list().first)
    #expect(summary.state == .recording)
    #expect(summary.events + summary.frames == 300)
    #expect(try await library.steps(of: recorder.name) == steps)
  }

  @Test func `two recordings that start in the same second have different names`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let first = try await library.record(makeSteps(10))
    let second = try await library.record(makeSteps(20))
    #expect(first.name == "main-20231114T221320Z")
    #expect(second.name == "main-20231114T221320Z.2")
    #expect(try await library.steps(of: second.name).count == 20)
    await #expect(throws: RecordingError.noSuchRecording("../x")) {
      try await library.files(of: "../x")
    }
  }

  @Test func `an event with the longest line is read even if every byte is escaped`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let text = String(repeating: "\u{1}", count: 60_000)
    let message = ChatMessage(id: "1", userID: "2", userName: "U", text: text)
    let steps = [
      RecordedStep.event(LiveEvent(timestamp: 5, payload: .chat(.message(message))), at: .origin)
    ]
    let summary = try await library.record(steps)
    #expect(try await library.steps(of: summary.name) == steps)
  }

  @Test func `events beyond the limit of a stalled disk are lost, and the loss is reported`()
    async throws
  {
    let directory = TemporaryDirectory()
    var settings = RecordingSettings()
    settings.maximumWaiting = 10
    let library = try RecordingLibrary(in: directory, settings: settings)
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    let steps = makeSteps(60)
    await room.write(steps.prefix(5))
    #expect(recorder.failure == nil)
    await room.write(steps[5...])
    #expect(recorder.failure == .diskTooSlow)
    // There is space again, but earlier steps are missing.
    await room.write(steps.prefix(5))
    #expect(recorder.failure == .diskTooSlow)
    let summary = try await recorder.finish(digest: nil, endedAt: 1)
    #expect(summary.state == .failed)
    #expect(try await library.steps(of: recorder.name) == Array(steps.prefix(5)))
  }
}
