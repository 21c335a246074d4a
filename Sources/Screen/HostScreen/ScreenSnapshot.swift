import Composable
package import HostFeature

/// All of a screen that is to outlive the process that runs it.
///
/// What throttles hold is not in it: whoever takes one while ``counts`` has events pending keeps a
/// screen that never saw these.
package struct ScreenSnapshot: Sendable, Codable {
  package let state: HostFeature.State
  /// Without events that are pending.
  package let counts: EventCounts
  let ticker: Ticker
}

extension HostScreen {
  /// The screen as it is. Shares the storage of the state, which is copied as far as it changes while
  /// somebody holds the snapshot.
  package var snapshot: ScreenSnapshot {
    var counts = counts
    counts.forgetPending()
    return ScreenSnapshot(state: store.state, counts: counts, ticker: ticker)
  }
}
