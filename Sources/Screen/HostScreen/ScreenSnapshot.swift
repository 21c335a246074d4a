import Composable
package import HostFeature

/// The part of a screen that outlives its process.
///
/// It leaves out what throttles hold: a snapshot taken while events are pending is of a screen that
/// never saw them.
package struct ScreenSnapshot: Sendable, Codable {
  package let state: HostFeature.State
  /// Without events that are pending.
  package let counts: EventCounts
  let ticker: Ticker
}

extension ScreenSnapshot {
  /// A screen that has seen nothing.
  package init() { self.init(state: HostFeature.State(), counts: EventCounts(), ticker: Ticker()) }
}

extension HostScreen {
  /// The screen as it is. Shares the storage of the state, which is copied where it changes while the
  /// snapshot is alive.
  package var snapshot: ScreenSnapshot {
    var counts = counts
    counts.forgetPending()
    return ScreenSnapshot(state: store.state, counts: counts, ticker: ticker)
  }
}
