import BenchmarkKit
import ComposableBenchmarks
import Foundation

// Measures the state library alone and prints a table.
// Usage: composable-bench [--json FILE]; the variable BENCH names the cases to run.

let names = (ProcessInfo.processInfo.environment["BENCH"] ?? "")
  .split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
let harness = Harness(wanted: names)
composableBenchmarks(harness)
harness.printTable()

let arguments = CommandLine.arguments
if let index = arguments.firstIndex(of: "--json"), index + 1 < arguments.count {
  let commit = ProcessInfo.processInfo.environment["COMMIT"] ?? "unknown"
  try harness.write(to: arguments[index + 1], commit: commit)
}
