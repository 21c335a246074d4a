import BenchmarkKit
import ComposableBenchmarks
import Foundation

// Measures the project's performance targets and prints a table; see `make bench`.
// Usage: livehost-bench [--json FILE]. The environment variable BENCH selects cases.

let arguments = CommandLine.arguments
let json = arguments.firstIndex(of: "--json").flatMap { index in
  index + 1 < arguments.count ? arguments[index + 1] : nil
}
guard arguments.count == 1 || arguments.count == 3 && json != nil else {
  print("Usage: [BENCH=\"CASE ...\"] livehost-bench [--json FILE]")
  exit(arguments.contains("--help") || arguments.contains("-h") ? 0 : 64)
}
let names = (ProcessInfo.processInfo.environment["BENCH"] ?? "")
  .split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
let harness = Harness(wanted: names)

composableBenchmarks(harness)
decodingBenchmarks(harness)
screenBenchmarks(harness)
try await roadBenchmarks(harness)
try await laneBenchmarks(harness)
try await fairnessBenchmarks(harness)
try await monitorBenchmarks(harness)
try await monitorCostBenchmarks(harness)
try roomsBenchmarks(harness)
try await recordingBenchmarks(harness)
try await analysisBenchmarks(harness)
try await executorBenchmarks(harness)
try await waveBenchmarks(harness)
try await simulationBenchmarks(harness)
try await hangDetectionBenchmarks(harness)

harness.printTable()
if let json {
  try harness.write(to: json, commit: commit())
  print("written to \(json)")
}

/// The measured commit, or "unknown" outside a checkout.
func commit() -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/git")
  process.arguments = ["describe", "--always", "--dirty"]
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return "unknown" }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  return text.isEmpty ? "unknown" : text
}
