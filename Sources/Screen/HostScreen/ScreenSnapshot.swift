import Composable
package import HostFeature
package import LiveEvents

/// The part of a screen that outlives its process. Excludes events that throttles hold: a snapshot
/// taken while events are pending represents a screen that never received them.
package struct ScreenSnapshot: Sendable, Codable {
  package let state: HostFeature.State
  /// The counts without pending events.
  package let counts: EventCounts
  let ticker: Ticker
}

extension ScreenSnapshot {
  /// Creates the snapshot of a screen that has received nothing.
  package init() { self.init(state: HostFeature.State(), counts: EventCounts(), ticker: Ticker()) }
}

extension HostScreen {
  /// The current state of the screen. Shares the storage of the state. While the snapshot exists, a
  /// part of the state is therefore copied before it changes.
  package var snapshot: ScreenSnapshot {
    var counts = counts
    counts.removePending()
    return ScreenSnapshot(state: store.state, counts: counts, ticker: ticker)
  }
}

extension ScreenSnapshot: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(state, "state")
    try require(counts.isPossible, "counts")
    try check(ticker, "ticker")
  }
}
