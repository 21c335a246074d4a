package import Composable
package import LiveEvents

/// The head of the screen: what the stream is called, how long it has been live, who watches.
@Reducer
package struct HeaderFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    package var title = ""
    package var viewers = 0
    /// The most viewers at any time, readings that were never shown included.
    package var peakViewers = 0
    /// Sum of all reactions.
    package var likes = 0
    /// State of the stream as last told; `nil` before that.
    package var phase: StreamState?
    /// When the stream went live; `nil` before that.
    package var liveSince: Timestamp?
    /// How long the stream has been live, in milliseconds. Pauses count, as they do for those who
    /// watch; stands still after the end.
    package var durationMilliseconds: Int64 = 0
    /// How well the stream gets through; `nil` while nobody says.
    package var connection: Connection?

    package init() {}
  }

  /// What the badge of the header says of the connection.
  package enum Connection: String, Equatable, Sendable, Codable { case good, fair, poor }

  package enum Action: Equatable, Sendable {
    case titleChanged(String)
    /// `peak` is the largest reading since the last such action, `count` among them.
    case viewersChanged(count: Int, peak: Int)
    /// So many reactions came.
    case reacted(Int)
    case streamChanged(StreamState, at: Timestamp)
    case connectionChanged(Connection?)
    /// The time of the events went on.
    case ticked(at: Timestamp)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .titleChanged(let title):
      state.title = title
    case .viewersChanged(let count, let peak):
      state.viewers = count
      state.peakViewers = max(state.peakViewers, peak)
    case .reacted(let count):
      // Saturates: a counter that stands still at its end beats a room that stops.
      let (sum, overflow) = state.likes.addingReportingOverflow(count)
      state.likes = overflow ? .max : sum
    case .streamChanged(let phase, let time):
      change(to: phase, at: time, &state)
    case .connectionChanged(let connection):
      if state.connection != connection { state.connection = connection }
    case .ticked(let time):
      if state.isRunning { tick(to: time, &state) }
    }
    return .none
  }

  /// Ticks do not come out of order: one that is far before the duration corrects it, after a time stamp
  /// that was a mistake.
  private func tick(to time: Timestamp, _ state: inout State) {
    guard let start = state.liveSince else { return }
    let (elapsed, overflow) = time.subtractingReportingOverflow(start)
    if !overflow, elapsed < state.durationMilliseconds - Self.horizon {
      state.durationMilliseconds = max(0, elapsed)
    } else {
      advance(to: time, &state)
    }
  }

  /// How much later than a newer one a time stamp may come, in milliseconds.
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

  /// Time stamps come out of order; the duration does not run backwards.
  private func advance(to time: Timestamp, _ state: inout State) {
    guard let start = state.liveSince else { return }
    let (elapsed, overflow) = time.subtractingReportingOverflow(start)
    if !overflow { state.durationMilliseconds = max(state.durationMilliseconds, elapsed) }
  }
}

extension HeaderFeature.State {
  /// The newest time that the duration knows of; 0 before the stream went live.
  package var newestTime: Timestamp {
    let (time, overflow) = (liveSince ?? 0).addingReportingOverflow(durationMilliseconds)
    return overflow ? .max : time
  }

  /// Whether the stream went live and has not ended since.
  package var isRunning: Bool {
    switch phase {
    case .live: true
    case .paused: liveSince != nil
    case .waiting, .ended, nil: false
    }
  }
}
