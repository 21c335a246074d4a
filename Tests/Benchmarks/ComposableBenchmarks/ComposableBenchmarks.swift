public import BenchmarkKit

/// Measures what the state library promises.
public func composableBenchmarks(_ harness: Harness) {
  sendBenchmarks(harness)
  scaleBenchmarks(harness)
  effectBenchmarks(harness)
  allocationBenchmarks(harness)
}
