import CoreMetrics
import Locking
import SystemSupport

/// A series of a metric, to which the instruments of swift-metrics write from any thread.
protocol MetricSeries: AnyObject, Sendable {
  var labels: [String: String] { get }

  /// Returns the current values as samples of the metric with this name.
  func samples(of name: String) -> [MetricSample]
}

final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  let labels: [String: String]
  private let value = Guarded(0.0)

  init(labels: [String: String]) { self.labels = labels }

  func increment(by amount: Int64) { increment(by: Double(amount)) }

  func increment(by amount: Double) {
    // A counter never decreases.
    value.withLock { $0 += max(0, amount) }
  }

  func reset() { value.withLock { $0 = 0 } }

  func samples(of name: String) -> [MetricSample] {
    [MetricSample(name, labels: labels, value: value.withLock { $0 })]
  }
}

final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
  let labels: [String: String]
  private let value = Guarded(0.0)

  init(labels: [String: String]) { self.labels = labels }

  func set(_ new: Int64) { set(Double(new)) }
  func set(_ new: Double) { value.withLock { $0 = new } }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }
  func record(_ new: Int64) { set(new) }
  func record(_ new: Double) { set(new) }

  func samples(of name: String) -> [MetricSample] {
    [MetricSample(name, labels: labels, value: value.withLock { $0 })]
  }
}

final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
  private struct Contents: Sendable {
    /// The number of values up to each bound and above the previous one. The last count is for
    /// values above all bounds.
    var counts: [UInt64]
    var sum = 0.0
  }

  let labels: [String: String]
  private let bounds: [Double]
  private let contents: Guarded<Contents>

  /// - Parameter bounds: The bounds, in increasing order.
  init(labels: [String: String], bounds: [Double]) {
    self.labels = labels
    self.bounds = bounds
    contents = Guarded(Contents(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  func record(_ value: Int64) { record(Double(value)) }

  /// Records a value without allocation, in O(number of bounds).
  func record(_ value: Double) {
    guard !value.isNaN else { return }
    let index = bounds.firstIndex { value <= $0 } ?? bounds.count
    contents.withLock {
      $0.counts[index] += 1
      $0.sum += value
    }
  }

  /// Records a duration in nanoseconds, which is reported in seconds.
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func samples(of name: String) -> [MetricSample] {
    let (counts, sum) = contents.withLock { ($0.counts, $0.sum) }
    var samples: [MetricSample] = []
    var total: UInt64 = 0
    for (bound, count) in zip(bounds + [.infinity], counts) {
      total += count
      var labels = labels
      labels["le"] = ExpositionFormat.number(bound)
      samples.append(MetricSample(name + "_bucket", labels: labels, value: Double(total)))
    }
    samples.append(MetricSample(name + "_sum", labels: labels, value: sum))
    samples.append(MetricSample(name + "_count", labels: labels, value: Double(total)))
    return samples
  }
}
