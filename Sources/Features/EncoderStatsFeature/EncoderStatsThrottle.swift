package import LiveEvents
package import RateLimiting
package import Throttling

/// Summarises the `stats` events of each window, for each source separately.
package struct EncoderStatsThrottle: PartThrottle {
  package typealias Action = EncoderStatsFeature.Action

  private typealias Window = Paced<SummaryWindow<5>>

  /// The origin of the next received event.
  package var origin = Origin.none

  private var windows: PerSource<Window>
  private var pacing: ThrottlePolicies.Pacing

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    pacing = policies[.statistics]
    windows = PerSource(Self.window(pacing))
  }

  private static func window(_ pacing: ThrottlePolicies.Pacing) -> Window {
    var window = Paced(SummaryWindow<5>(interval: pacing.interval))
    window.follow(pacing.adaptive)
    return window
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    pacing = policies[.statistics]
    let adaptive = pacing.adaptive
    windows.forEach { window, _ in window.follow(adaptive) }
  }

  package mutating func record(cost: Interval) {
    windows.forEach { window, _ in window.record(cost: cost) }
  }

  package var pending: Int { windows.reduce(0) { $0 + $1.pending } }
  package var deadline: Instant? { windows.reduce(nil) { .earlier($0, $1.deadline) } }

  package mutating func receive(
    _ sample: StreamStatistics, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    let (origin, pacing) = (origin, pacing)
    let isThrottled: Void? = windows.withValue(
      of: origin, make: { Self.window(pacing) }, isIdle: { $0.pending == 0 }
    ) { window in
      let step = window.limiter.push(Self.series(of: sample), at: now)
      Self.deliver(step, from: origin, into: &output)
    }
    guard isThrottled == nil else { return }
    var window = Self.window(pacing)
    _ = window.limiter.push(Self.series(of: sample), at: now)
    Self.deliver(window.flush(at: now), from: origin, into: &output)
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    windows.forEach { Self.deliver($0.wake(at: now), from: $1, into: &output) }
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    windows.forEach { Self.deliver($0.flush(at: now), from: $1, into: &output) }
  }

  private static func deliver(
    _ step: Step<SummaryWindow<5>.Summaries>, from origin: Origin,
    into output: inout ThrottleOutput<Action>
  ) {
    guard let closed = step.output else { return }
    let window = StatisticsWindow(
      bitrate: closed[0], frameRate: closed[1], droppedFrames: closed[2], roundTrip: closed[3],
      congestion: closed[4], samples: closed.samples)
    output.apply(.windowClosed(window, from: origin), events: step.applied)
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
