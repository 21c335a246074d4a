import BenchmarkKit
import Foundation

/// Measures the latency of rooms and effects while one analysis per core is requested. Compares the
/// daemon's arrangement of executors with alternatives.
func executorBenchmarks(_ harness: Harness) async throws {
  for arrangement in ExecutorLoad.Arrangement.allCases {
    let name = "executor.\(arrangement.rawValue)"
    guard harness.isWanted(name) else { continue }
    FileHandle.standardError.write(Data("measuring \(name)\n".utf8))
    let load = try ExecutorLoad(arrangement)
    let figures = try await load.run()
    let isOurs = arrangement == .own
    harness.report(
      "\(name).latency", figures.latency, "ms p99", bar: isOurs ? "< 20 ms" : arrangement.about)
    harness.report(
      "\(name).latency.chat", figures.chatLatency, "ms p99", bar: isOurs ? "< 20 ms" : nil)
    harness.report("\(name).turn", figures.longestTurn, "ms", bar: isOurs ? "< 100 ms" : nil)
    harness.report("\(name).start", figures.effectStart, "ms p99", bar: isOurs ? "< 5 ms" : nil)
    print("  \(name): \(figures.analyses) analyses ended; \(arrangement.about)")
  }
}
