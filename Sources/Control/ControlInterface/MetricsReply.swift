public import Prometheus

/// The reply of `GetMetrics`.
public struct MetricsReply: Codable, Sendable, Equatable {
  /// Sorted by name.
  public var metrics: [MetricFamily]

  public init(metrics: [MetricFamily]) { self.metrics = metrics }
}
