package import CoreMetrics
import Locking
import SystemSupport

/// A backend for swift-metrics that keeps the current values, which can be read at any time.
///
/// The label of an instrument becomes the name of the metric, and its dimensions become Prometheus
/// labels. Instruments with the same label and dimensions share one series. A timer, or a recorder
/// that aggregates, becomes a histogram; any other recorder becomes a gauge. Can be used from any
/// thread. Making an instrument takes a lock.
package final class MetricRegistry: MetricsFactory {
  /// The default bounds of histograms in seconds: from 1 ms to 10 s.
  package static let defaultBounds: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  private struct Family: Sendable {
    var kind: MetricFamily.Kind
    /// The series, in the order in which they were made.
    var series: [any MetricSeries] = []
  }

  private struct State: Sendable {
    var families: [String: Family] = [:]
    var help: [String: String] = [:]
    var bounds: [String: [Double]] = [:]
  }

  private let state = Guarded(State())

  package init() {}

  /// Sets the description of a metric. Must be called before an instrument for the metric is made.
  /// `bounds` are the upper bounds of a histogram's buckets, in increasing order, without infinity.
  package func describe(_ name: String, help: String, bounds: [Double]? = nil) {
    state.withLock { state in
      state.help[name] = help
      state.bounds[name] = bounds
    }
  }

  /// Returns the current values of all metrics, sorted by name.
  package func families() -> [MetricFamily] {
    let (families, help) = state.withLock { ($0.families, $0.help) }
    return families.sorted { $0.key < $1.key }.map { name, family in
      MetricFamily(
        name, family.kind, help: help[name] ?? "No description.",
        samples: family.series.flatMap { $0.samples(of: name) })
    }
  }

  /// Returns the series with these labels, and makes it if it does not exist.
  ///
  /// - Precondition: All metrics of one name have the same kind.
  private func series<Series: MetricSeries>(
    _ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind,
    _ make: ([String: String], [Double]) -> Series
  ) -> Series {
    let name = Self.name(label)
    let labels = Dictionary(dimensions.map { (Self.name($0.0), $0.1) }) { $1 }
    return state.withLock { state in
      var family = state.families[name] ?? Family(kind: kind)
      if let known = family.series.first(where: { $0.labels == labels }) {
        guard let known = known as? Series else {
          preconditionFailure("the metric \(name) already exists as a \(family.kind)")
        }
        return known
      }
      precondition(family.kind == kind, "the metric \(name) already exists as a \(family.kind)")
      let made = make(labels, state.bounds[name] ?? Self.defaultBounds)
      family.series.append(made)
      state.families[name] = family
      return made
    }
  }

  private func remove(_ handler: AnyObject) {
    state.withLock { state in
      for name in state.families.keys {
        state.families[name]?.series.removeAll { $0 === handler }
        if state.families[name]?.series.isEmpty == true { state.families[name] = nil }
      }
    }
  }

  /// Returns a name that matches `[a-zA-Z_][a-zA-Z0-9_]*`. Any other character becomes `_`.
  static func name(_ label: String) -> String {
    var name = ""
    for scalar in label.unicodeScalars {
      let fits = scalar == "_" || scalar.isASCII && scalar.properties.isAlphabetic
      let isDigit = ("0"..."9").contains(scalar)
      if name.isEmpty, isDigit { name += "_" }
      name.unicodeScalars.append(fits || isDigit ? scalar : "_")
    }
    return name.isEmpty ? "_" : name
  }

  // MARK: MetricsFactory

  package func makeCounter(
    label: String, dimensions: [(String, String)]
  ) -> any CounterHandler {
    series(label, dimensions, .counter) { labels, _ in CounterSeries(labels: labels) }
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter) { labels, _ in CounterSeries(labels: labels) }
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge) { labels, _ in GaugeSeries(labels: labels) }
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    guard aggregate else {
      return series(label, dimensions, .gauge) { labels, _ in GaugeSeries(labels: labels) }
    }
    return series(label, dimensions, .histogram) { HistogramSeries(labels: $0, bounds: $1) }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram) { HistogramSeries(labels: $0, bounds: $1) }
  }

  package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    remove(handler)
  }
  package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
