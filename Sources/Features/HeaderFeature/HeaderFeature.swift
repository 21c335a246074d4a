package import Composable
package import LiveEvents
package import RateLimiting

/// The header of the screen: the title of the stream, its duration, and the number of viewers.
///
/// A room may show several platforms, so figures are kept for each source. The shown figures are
/// derived from these parts; see `HeaderFeature+Parts.swift`. While a room has a single source, the
/// shown figures are those of this source, and no parts exist.
@Reducer
package struct HeaderFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    package var title = ""
    /// The category of the stream, such as a game, or `nil` if unknown.
    package var category: String?
    /// The number of viewers: the sum over all sources.
    package var viewers = 0
    /// The maximum of the sum at any time, including readings that were never shown.
    package var peakViewers = 0
    /// The sum of all reactions.
    package var likes = 0
    /// The last reported state of the stream, or `nil` before the first report.
    package var phase: StreamState?
    /// The time at which the stream went live, or `nil` before that.
    package var liveSince: Timestamp?
    /// The duration of the stream in milliseconds until its end. Includes pauses, as viewers
    /// experience them.
    package var durationMilliseconds: Int64 = 0
    /// The quality of the connection, if known.
    package var connection: Connection?
    /// The number of viewers over time while live, or `nil` before the first sample.
    package var viewersHistory: History?
    @ObservationStateIgnored package var viewersSampler: HistorySampler?
    /// The figures of each source, or `nil` while all events come from ``sole``.
    package var parts: [HeaderPart]?
    /// The only source, or `nil` if the events name no source.
    @ObservationStateIgnored package var sole: Origin?
    /// What the header remembers about the parts without showing it. `nil` if and only if ``parts``
    /// is `nil`.
    @ObservationStateIgnored package var bookkeeping: HeaderBookkeeping?

    package init() {}
  }

  /// The quality of the connection, which the badge in the header shows.
  package enum Connection: String, Equatable, Sendable, Codable { case good, fair, poor }

  package enum Action: Equatable, Sendable {
    case titleChanged(String, from: Origin = .none)
    case categoryChanged(String, from: Origin = .none)
    /// `peak` is the source's largest reading since its previous `viewersChanged`, including
    /// `count`.
    case viewersChanged(count: Int, peak: Int, from: Origin = .none)
    /// Viewers sent this number of reactions.
    case reacted(Int)
    /// A source reported the state of its stream.
    case streamChanged(StreamState, at: Timestamp, from: Origin = .none)
    /// The host ended the stream of all sources.
    case streamsEnded(at: Timestamp)
    case connectionChanged(Connection?)
    /// The time of the events has advanced.
    case ticked(at: Timestamp)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .titleChanged(let title, let origin):
      if state.isSole(origin) {
        state.title = title
      } else {
        state.changeTitle(to: title, from: origin)
      }
    case .categoryChanged(let category, let origin):
      if state.isSole(origin) {
        state.category = category
      } else {
        state.changeCategory(to: category, from: origin)
      }
    case .viewersChanged(let count, let peak, let origin):
      if state.isSole(origin) {
        state.viewers = count
        state.peakViewers = max(state.peakViewers, peak)
      } else {
        state.changeViewers(to: count, peak: peak, from: origin)
      }
    case .reacted(let count):
      // A larger number could not be saved.
      state.likes = min(state.likes.saturatingSum(count), EventLimits.total.upperBound)
    case .streamChanged(let phase, let time, let origin):
      if state.isSole(origin) {
        change(to: phase, at: time, &state)
      } else if let shown = state.changePhase(to: phase, from: origin) {
        change(to: shown, at: time, &state)
      }
    case .streamsEnded(let time):
      state.endParts()
      change(to: .ended, at: time, &state)
    case .connectionChanged(let connection):
      if state.connection != connection { state.connection = connection }
    case .ticked(let time):
      if let shown = state.ageParts(at: time) { change(to: shown, at: time, &state) }
      if state.isRunning { tick(to: time, &state) }
      sampleViewers(at: time, &state)
    }
    return .none
  }

  private func sampleViewers(at time: Timestamp, _ state: inout State) {
    // Without a stream that reports viewers, there is nothing to sample.
    guard state.viewers > 0 || state.viewersSampler != nil else { return }
    var sampler = state.viewersSampler ?? HistorySampler()
    state.viewersHistory = sampler.add(
      Double(state.viewers), at: time, to: state.viewersHistory)
    state.viewersSampler = sampler
  }

  /// Advances the duration. Ticks arrive in order, so a tick far before the current duration proves
  /// that an earlier timestamp was wrong, and corrects the duration.
  private func tick(to time: Timestamp, _ state: inout State) {
    guard let start = state.liveSince else { return }
    let (elapsed, overflow) = time.subtractingReportingOverflow(start)
    if !overflow, elapsed < state.durationMilliseconds - Self.horizon {
      state.durationMilliseconds = max(0, elapsed)
    } else {
      advance(to: time, &state)
    }
  }

  /// The maximum lateness of a timestamp relative to the newest, in milliseconds.
  private static let horizon: Timestamp = 10_000

  private func change(to phase: StreamState, at time: Timestamp, _ state: inout State) {
    switch phase {
    case .live:
      if !state.isRunning {
        state.liveSince = time
        state.durationMilliseconds = 0
      } else {
        advance(to: time, &state)
      }
    case .paused, .ended:
      if state.isRunning { advance(to: time, &state) }
    case .waiting:
      state.liveSince = nil
      state.durationMilliseconds = 0
    }
    state.phase = phase
  }

  /// Advances the duration, which never decreases although timestamps may arrive out of order.
  private func advance(to time: Timestamp, _ state: inout State) {
    guard let start = state.liveSince else { return }
    let (elapsed, overflow) = time.subtractingReportingOverflow(start)
    if !overflow { state.durationMilliseconds = max(state.durationMilliseconds, elapsed) }
  }
}

extension HeaderFeature.State {
  /// The newest time on which the duration is based, or 0 before the stream went live.
  package var newestTime: Timestamp {
    (liveSince ?? 0).saturatingSum(durationMilliseconds)
  }

  /// Whether the stream has gone live and has not ended since.
  package var isRunning: Bool {
    switch phase {
    case .live: true
    case .paused: liveSince != nil
    case .waiting, .ended, nil: false
    }
  }
}

extension HeaderFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(title.utf8.count <= EventLimits.titleLength, "title")
    try require(countable: viewers, peakViewers, likes, in: "viewers")
    try require(times: liveSince, durationMilliseconds, in: "liveSince")
    try require(names: category, in: "category")
    try check(parts ?? [], atMost: SourceLimits.sources, "parts")
    try require(parts?.count == bookkeeping?.times.count, "bookkeeping")
    try check(bookkeeping, "bookkeeping")
  }
}
