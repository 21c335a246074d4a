public import BenchmarkKit

/// Measures the performance targets of the state library.
public func composableBenchmarks(_ harness: Harness) {
  sendBenchmarks(harness)
  scaleBenchmarks(harness)
  effectBenchmarks(harness)
  allocationBenchmarks(harness)
}
