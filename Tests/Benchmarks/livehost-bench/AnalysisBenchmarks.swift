import BenchmarkKit
import ControlInterface
import Foundation
import JSON
import LiveEvents
import LivehostDaemon
import NIOCore
import RateLimiting
import Recordings
import Rooms

private let messageCount = 1_000_000

/// Measures each analysis of a recording with a million messages as a client starts it, including
/// reading and decoding.
func analysisBenchmarks(_ harness: Harness) async throws {
  let kinds: [TaskKind] = [.highlights, .spam, .chatters].filter {
    harness.isWanted("analyze.\($0.rawValue)")
  }
  guard !kinds.isEmpty else { return }
  FileHandle.standardError.write(Data("measuring analyze\n".utf8))
  let studio = try await BenchmarkStudio()
  let recording = try await recordCrowd(in: studio.library)
  // Reads the recording once, so that one-time work at the first line of JSON is not measured.
  var reader = RecordingReader(try await studio.library.files(of: recording))
  var steps: [RecordedStep] = []
  while try reader.read(into: &steps) { steps.removeAll(keepingCapacity: true) }
  for kind in kinds {
    var times: [Double] = []
    var slices: [Double] = []
    for _ in 0..<3 {
      // Each analysis needs a separate executor, which records its longest slice.
      let executor = WorkExecutor(width: max(1, System.coreCount - 1))
      try executor.start()
      let tasks = RoomTasks(
        executor: executor, slots: WorkSlots(count: executor.width), recordings: studio.recordings,
        directory: studio.directory, logger: studio.logger)
      let start = Harness.now()
      let reply = try await tasks.run(
        StartTaskRequest(kind: kind, recording: recording), reply: { _ in }, progress: { _ in })
      times.append(Double(Harness.now() - start) / 1e9)
      slices.append(Double(executor.longestSliceNanoseconds) / 1e6)
      precondition(reply.result?["messages"]?.integerValue == Int64(messageCount))
      executor.stop()
    }
    harness.report("analyze.\(kind.rawValue)", Harness.median(times), "s per million")
    harness.report(
      "analyze.\(kind.rawValue).slice", Harness.median(slices), "ms", bar: "about 1 ms")
  }
  try await studio.end()
}

/// Records a million messages, with a frame every 16 ms.
private func recordCrowd(in library: RecordingLibrary) async throws -> String {
  let recorder = try await library.start(room: "crowd", startedAt: 1_700_000_000_000) { _ in }
  let log = library.log("crowd") {}
  var crowd = ChatCrowd()
  let perFrame = 100
  for frame in 0..<(messageCount / perFrame) {
    let instant = Instant(nanoseconds: Int64(frame) * 16_666_667)
    var batch = RecordedBatch()
    let sequence = log.nextSequence()
    batch.addMark(
      LogMark(room: "crowd", sequence: sequence, after: sequence - 1, recording: recorder.name))
    batch.add((0..<perFrame).map { _ in crowd.next() }[...], at: instant)
    batch.addFrame(at: instant, flush: false)
    batch.recorder = recorder
    log.post(batch)
    // The messages arrive more slowly than the disk writes, so that none is dropped.
    while log.isBehind { Harness.wait(until: Harness.now() + 1_000_000) }
  }
  let summary = try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
  precondition(summary.events == messageCount)
  return summary.name
}
