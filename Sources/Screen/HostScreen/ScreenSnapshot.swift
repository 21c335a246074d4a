import Composable
package import HostFeature

/// The part of a screen that outlives its process.
///
/// Events held by throttles are excluded. A snapshot taken while events are pending therefore
/// represents a screen that never received them.
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
  /// The current state of the screen. Shares the storage of the state. While the snapshot exists,
  /// changed parts of the state are copied.
  package var snapshot: ScreenSnapshot {
    var counts = counts
    counts.forgetPending()
    return ScreenSnapshot(state: store.state, counts: counts, ticker: ticker)
  }
}
