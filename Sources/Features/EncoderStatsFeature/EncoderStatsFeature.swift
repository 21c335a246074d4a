package import Composable
package import LiveEvents
package import RateLimiting

/// The statistics of the encoder and the connection, summarised per window so that no peak is lost.
@Reducer
package struct EncoderStatsFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The newest complete window.
    package var window: StatisticsWindow?
    /// The number of samples in all windows.
    package var samples = 0
    /// The worst level of any measurement, with hysteresis.
    package var quality: StreamQuality = StreamQuality.good
    /// The measurement that determines ``quality``, or `nil` while the quality is good.
    package var fault: StreamFault?
    /// The best mean frame rate of any window, against which shortfalls are measured.
    package var bestFrameRate: Double = 0
    /// The total number of dropped frames at the end of the newest window that contains this
    /// measurement.
    package var droppedFrames: Double?
    /// The levels of the individual measurements, each with its own hysteresis.
    package var levels = QualityLevels()
    /// The mean bitrates and round trips over time, or `nil` before the first sample.
    package var bitrateHistory: History?
    package var roundTripHistory: History?
    @ObservationStateIgnored package var samplers: Samplers?

    package init() {}
  }

  package struct Samplers: Equatable, Sendable, Codable {
    /// The time of the newest tick.
    var now: Timestamp = 0
    var bitrate = HistorySampler()
    var roundTrip = HistorySampler()
  }

  package enum Action: Equatable, Sendable {
    /// Indirect because a window is large, and every action of a room takes as much space as the
    /// largest.
    indirect case windowClosed(StatisticsWindow)
    /// The time of the events has advanced.
    case ticked(at: Timestamp)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// The level changed. This is the only alert, and it is not repeated while the level stays the
    /// same.
    case qualityChanged(StreamQuality)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .windowClosed(let window):
      state.window = window
      state.samples += window.samples
      sample(window, &state)
      return assess(window, in: &state)
    case .ticked(let time):
      state.samplers = state.samplers ?? Samplers()
      state.samplers?.now = time
      return .none
    case .delegate:
      return .none
    }
  }

  /// Adds a sample when the window closes instead of with the tick, so that the histories cause no
  /// further evaluations.
  private func sample(_ window: StatisticsWindow, _ state: inout State) {
    guard var samplers = state.samplers else { return }
    if let bitrate = window.bitrate?.mean {
      state.bitrateHistory = samplers.bitrate.add(
        bitrate, at: samplers.now, to: state.bitrateHistory)
    }
    if let roundTrip = window.roundTrip?.mean {
      state.roundTripHistory = samplers.roundTrip.add(
        roundTrip, at: samplers.now, to: state.roundTripHistory)
    }
    state.samplers = samplers
  }

  private func assess(_ window: StatisticsWindow, in state: inout State) -> Effect<Action> {
    var levels = state.levels
    levels.update(congestion: window.congestion?.mean, roundTrip: window.roundTrip?.mean)
    if let rate = window.frameRate?.mean {
      state.bestFrameRate = max(state.bestFrameRate, rate)
      levels.update(
        frameShortfall: state.bestFrameRate > 0 ? 1 - rate / state.bestFrameRate : 0)
    }
    if let dropped = window.droppedFrames {
      // The counter of dropped frames has been running since the stream began, possibly before the
      // first sample. When the encoder restarts, the counter restarts at zero.
      levels.update(droppedFrames: max(0, dropped.last - (state.droppedFrames ?? dropped.minimum)))
      state.droppedFrames = dropped.last
    }
    state.levels = levels
    if state.fault != levels.fault { state.fault = levels.fault }
    guard levels.worst != state.quality else { return .none }
    state.quality = levels.worst
    return .send(.delegate(.qualityChanged(levels.worst)))
  }
}

/// The level of each measurement. A measurement that is missing from a window keeps its level.
package struct QualityLevels: Equatable, Sendable, Codable {
  package private(set) var congestion = StreamQuality.good
  package private(set) var roundTrip = StreamQuality.good
  package private(set) var frameShortfall = StreamQuality.good
  package private(set) var droppedFrames = StreamQuality.good

  package init() {}

  package var worst: StreamQuality {
    max(max(congestion, roundTrip), max(frameShortfall, droppedFrames))
  }

  /// The measurement with the worst level, and among equal levels the first declared.
  var fault: StreamFault? {
    switch worst {
    case .good: nil
    case congestion: .congestion
    case roundTrip: .roundTrip
    case frameShortfall: .frameShortfall
    case .fair, .poor: .droppedFrames
    }
  }

  mutating func update(congestion value: Double?, roundTrip milliseconds: Double?) {
    if let value {
      congestion = QualityThresholds.congestion.quality(of: value, from: congestion)
    }
    if let milliseconds {
      roundTrip = QualityThresholds.roundTrip.quality(of: milliseconds, from: roundTrip)
    }
  }

  mutating func update(frameShortfall share: Double) {
    frameShortfall = QualityThresholds.frameShortfall.quality(of: share, from: frameShortfall)
  }

  mutating func update(droppedFrames count: Double) {
    droppedFrames = QualityThresholds.droppedFrames.quality(of: count, from: droppedFrames)
  }
}

extension EncoderStatsFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: samples, window?.samples, in: "samples")
    try require(times: samplers?.now, in: "samplers")
    // Dropped frames are a total, which may be larger than other measurements.
    let figures = 0...Double(EventLimits.total.upperBound)
    let summaries = [
      window?.bitrate, window?.frameRate, window?.droppedFrames, window?.roundTrip,
      window?.congestion,
    ]
    for summary in summaries.compactMap(\.self) {
      try require(countable: summary.count, in: "window")
      let values = [summary.last, summary.minimum, summary.maximum]
      try require(values.allSatisfy(figures.contains), "window")
    }
    try require([bestFrameRate, droppedFrames ?? 0].allSatisfy(figures.contains), "bestFrameRate")
  }
}
