package import LiveEvents
package import RateLimiting
package import Throttling

/// Summarises the `stats` events of each window.
package struct EncoderStatsThrottle: PartThrottle {
  package typealias Action = EncoderStatsFeature.Action

  private var window: Paced<SummaryWindow<5>>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    window = Paced(SummaryWindow(interval: policies[.statistics].interval))
    apply(policies)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    window.follow(policies[.statistics].adaptive)
  }

  package mutating func record(cost: Interval) { window.record(cost: cost) }

  package var pending: Int { window.pending }
  package var deadline: Instant? { window.deadline }

  package mutating func receive(
    _ sample: StreamStatistics, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    deliver(window.limiter.push(Self.series(of: sample), at: now), into: &output)
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(window.wake(at: now), into: &output)
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(window.flush(at: now), into: &output)
  }

  private func deliver(
    _ step: Step<SummaryWindow<5>.Summaries>, into output: inout ThrottleOutput<Action>
  ) {
    guard let closed = step.output else { return }
    let window = StatisticsWindow(
      bitrate: closed[0], frameRate: closed[1], droppedFrames: closed[2], roundTrip: closed[3],
      congestion: closed[4], samples: closed.samples)
    output.apply(.windowClosed(window), events: step.applied)
  }

  /// Returns the values of a sample, with NaN for unknown values, which windows ignore.
  private static func series(of sample: StreamStatistics) -> InlineArray<5, Double> {
    [
      sample.bitrateKbps ?? .nan, sample.framesPerSecond ?? .nan,
      sample.droppedFrames.map(Double.init) ?? .nan, sample.roundTripMilliseconds ?? .nan,
      sample.congestion ?? .nan,
    ]
  }
}
