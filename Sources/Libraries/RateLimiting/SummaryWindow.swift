/// Summarises the samples of each window: the last value, count, sum, minimum and maximum of every
/// series.
///
/// A sample has a value for each of `width` series. For example, an event with five measurements is
/// one sample of width 5. A window opens with its first sample and is delivered one interval later.
/// The next sample after that opens the next window. An empty window delivers nothing. Every sample
/// counts as applied, because its content is in the summary.
///
/// - Complexity: a push is O(width); nothing allocates.
public struct SummaryWindow<let width: Int>: RateLimiter {
  /// The summaries of one window, one per series.
  public struct Summaries: Sendable {
    @usableFromInline var series: InlineArray<width, Summary>

    @usableFromInline var count: Int

    @inlinable init() {
      series = InlineArray(repeating: Summary())
      count = 0
    }

    /// The number of samples in the window; above zero.
    @inlinable public var samples: Int { count }

    /// The summary of a series, or nil if no sample had a value for it.
    @inlinable public subscript(position: Int) -> Summary? {
      series[position].count > 0 ? series[position] : nil
    }

    @inlinable mutating func add(_ sample: InlineArray<width, Double>) {
      count += 1
      for position in 0..<width where sample[position].isFinite {
        series[position].add(sample[position])
      }
    }
  }

  @usableFromInline var open = Summaries()
  @usableFromInline var due: Instant = .origin

  /// The length of a window. A new interval applies starting with the next window.
  public var interval: Interval

  /// Makes a limiter. `interval` must be above zero.
  @inlinable public init(interval: Interval) {
    precondition(interval > .zero, "a window needs an interval above zero")
    self.interval = interval
  }

  @inlinable public var pending: Int { open.samples }
  @inlinable public var deadline: Instant? { open.samples == 0 ? nil : due }

  /// Adds a sample. If the previous window is overdue, delivers it first. A value that is not
  /// finite counts as missing from its series.
  @inlinable public mutating func push(
    _ sample: InlineArray<width, Double>, at now: Instant
  ) -> Step<Summaries> {
    var step = wake(at: now)
    if open.samples == 0 { due = now + interval }
    open.add(sample)
    step.wake = due
    return step
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Summaries> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Summaries> {
    guard open.samples > 0 else { return Step() }
    let closed = open
    open = Summaries()
    return Step(output: closed, applied: closed.samples)
  }
}

extension SummaryWindow where width == 1 {
  /// Adds a sample of the only series.
  @inlinable public mutating func push(_ value: Double, at now: Instant) -> Step<Summaries> {
    push([value], at: now)
  }
}

extension SummaryWindow: Sendable {}

extension SummaryWindow.Summaries: Equatable {
  @inlinable public static func == (left: Self, right: Self) -> Bool {
    guard left.samples == right.samples else { return false }
    for position in 0..<width where left.series[position] != right.series[position] {
      return false
    }
    return true
  }
}
