package import Composable
package import LiveEvents
package import RateLimiting

/// The statistics of the encoder and the connection, summarised per window so that no peak is lost.
///
/// If several sources send statistics, each has a part; see `EncoderStatsFeature+Parts.swift`.
/// While only one source sends them, its figures are the shown figures, and no parts exist.
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
    /// The statistics of each source, or `nil` while all come from ``sole``.
    package var parts: [EncoderPart]?
    /// The only source, or `nil` if the statistics name no source.
    @ObservationStateIgnored package var sole: Origin?

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
    indirect case windowClosed(StatisticsWindow, from: Origin = .none)
    /// The stream of a source has ended, while the stream of another continues.
    case sourceEnded(Origin)
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
    case .windowClosed(let window, let origin):
      let quality = state.quality
      state.samples += window.samples
      if state.isSole(origin) {
        state.window = window
        state.assess(window)
      } else {
        state.close(window, from: origin)
      }
      sample(window, &state)
      return report(state, since: quality)
    case .sourceEnded(let origin):
      let quality = state.quality
      state.remove(origin)
      return report(state, since: quality)
    case .ticked(let time):
      let quality = state.quality
      state.ageParts(from: state.samplers?.now, to: time)
      state.samplers = state.samplers ?? Samplers()
      state.samplers?.now = time
      return report(state, since: quality)
    case .delegate:
      return .none
    }
  }

  /// Adds a sample when the window closes instead of with the tick, so that the histories cause no
  /// further evaluations.
  private func sample(_ window: StatisticsWindow, _ state: inout State) {
    guard var samplers = state.samplers else { return }
    // If another source's measurement is shown, so is its history.
    if let bitrate = window.bitrate?.mean, window.bitrate == state.window?.bitrate {
      state.bitrateHistory = samplers.bitrate.add(
        bitrate, at: samplers.now, to: state.bitrateHistory)
    }
    if let roundTrip = window.roundTrip?.mean, window.roundTrip == state.window?.roundTrip {
      state.roundTripHistory = samplers.roundTrip.add(
        roundTrip, at: samplers.now, to: state.roundTripHistory)
    }
    state.samplers = samplers
  }

  /// Reports the quality to the parent if it differs from `previous`.
  private func report(_ state: State, since previous: StreamQuality) -> Effect<Action> {
    guard state.quality != previous else { return .none }
    return .send(.delegate(.qualityChanged(state.quality)))
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
    try require(countable: samples, in: "samples")
    try require(times: samplers?.now, in: "samplers")
    try check(window, "window")
    try check(parts ?? [], atMost: SourceLimits.sources, "parts")
    try require(figures.areWithinLimits, "bestFrameRate")
  }
}

extension StatisticsWindow: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: samples, in: "samples")
    for summary in [bitrate, frameRate, droppedFrames, roundTrip, congestion].compactMap(\.self) {
      try require(countable: summary.count, in: "summary")
      let values = [summary.last, summary.minimum, summary.maximum]
      try require(values.allSatisfy(EncoderFigures.limits.contains), "summary")
    }
  }
}

extension EncoderFigures {
  /// The limits of measurements. Dropped frames are a total, which may be larger than other
  /// measurements.
  static let limits = 0...Double(EventLimits.total.upperBound)

  var areWithinLimits: Bool {
    [bestFrameRate, droppedFrames ?? 0].allSatisfy(Self.limits.contains)
  }
}
