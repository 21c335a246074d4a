import Foundation
import HangDetection

// Runs the benchmark of hang detection; see HangDetection/README.md.
// Usage: hang-detection [SEEDS [SCREEN ...]]
// Exits with 1 unless each seed finds at least 28 of 30 faults with at most one false alarm.

let arguments = CommandLine.arguments.dropFirst()
guard let seeds = UInt64(arguments.first ?? "1"), seeds > 0 else {
  print("Usage: hang-detection [SEEDS [SCREEN ...]]")
  exit(64)
}
let names = Array(arguments.dropFirst())
let known = Set(HangDetection.faults.map(\.name))
for name in names where !known.contains(name) {
  print("unknown screen '\(name)'; the screens are \(known.sorted().joined(separator: ", "))")
  exit(64)
}
let score = try await HangDetection.run(seeds: 1...seeds, names: names) { seed, fault in
  FileHandle.standardError.write(Data("seed \(seed): \(fault.name)\n".utf8))
}
for line in score.lines { print(line) }
exit(score.found * 30 >= 28 * score.screens && score.falseAlarms <= 1 ? 0 : 1)
