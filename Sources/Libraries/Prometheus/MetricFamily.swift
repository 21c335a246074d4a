/// A metric: all series with one name.
package struct MetricFamily: Codable, Sendable, Equatable {
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// A value that only grows until the process restarts; its name ends with `_total`.
    case counter
    /// A value that can grow and shrink.
    case gauge
    /// For each bound, the number of values up to the bound, and the sum and the number of all
    /// values.
    case histogram
  }

  /// The name: lower-case words separated by `_`, with the unit last, such as
  /// `livehost_turn_duration_seconds`.
  package var name: String
  package var kind: Kind
  /// The meaning, in one sentence.
  package var help: String
  package var samples: [MetricSample]

  package init(_ name: String, _ kind: Kind, help: String, samples: [MetricSample] = []) {
    self.name = name
    self.kind = kind
    self.help = help
    self.samples = samples
  }

  /// Makes a metric with one series and no labels.
  package init(_ name: String, _ kind: Kind, _ value: Double, help: String) {
    self.init(name, kind, help: help, samples: [MetricSample(name, value: value)])
  }

  /// Adds a series with its current value.
  package mutating func add(_ value: some BinaryInteger, _ labels: [String: String] = [:]) {
    add(Double(value), labels)
  }

  /// Adds a series with its current value.
  package mutating func add(_ value: Double, _ labels: [String: String] = [:]) {
    samples.append(MetricSample(name, labels: labels, value: value))
  }
}

/// One value of a metric.
package struct MetricSample: Codable, Sendable, Equatable {
  /// The name of the metric; for a histogram, followed by `_bucket`, `_sum` or `_count`.
  package var name: String
  package var labels: [String: String]
  package var value: Double

  package init(_ name: String, labels: [String: String] = [:], value: Double) {
    self.name = name
    self.labels = labels
    self.value = value
  }
}
