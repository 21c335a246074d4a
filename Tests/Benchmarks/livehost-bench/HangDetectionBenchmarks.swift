import BenchmarkKit
import Foundation
import HangDetection

/// Measures hang detection with thirty faulty screens and the same screens without faults: the
/// number of found faults and of false alarms.
func hangDetectionBenchmarks(_ harness: Harness) async throws {
  guard harness.isWanted("hangs") else { return }
  FileHandle.standardError.write(Data("measuring hangs\n".utf8))
  let score = try await HangDetection.run(seeds: 1...3)
  for line in score.lines.dropFirst(score.screens) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
  }
  let of = "of \(score.screens)"
  harness.report("hangs.found", Double(score.found), of, bar: ">= 28")
  harness.report("hangs.missed", Double(score.screens - score.found), of, bar: "<= 2")
  harness.report("hangs.falseAlarms", Double(score.falseAlarms), of, bar: "<= 1")
}
