package import NIOCore

/// The number of events per second that the daemon received in the last ten seconds.
package struct ReceivedRate: Sendable {
  private static let window = TimeAmount.seconds(10)
  /// The totals recorded in the last ten seconds, oldest first.
  private var samples: [(at: NIODeadline, total: Int)] = []

  package init() {}

  /// Records the number of events that all rooms have received, including those from before a
  /// restart.
  package mutating func add(_ total: Int, at now: NIODeadline) {
    samples.removeAll { $0.at < now - Self.window }
    samples.append((now, total))
  }

  /// Returns the rate at a time, given the total at that time; 0 before the first sample.
  package func rate(_ total: Int, at now: NIODeadline) -> Double {
    guard let base = samples.first(where: { $0.at >= now - Self.window }) else { return 0 }
    let seconds = Double((now - base.at).nanoseconds) / 1e9
    // The total can shrink, because it may lack a room that was closed while the rooms were
    // counted.
    return seconds > 0 ? Double(max(0, total - base.total)) / seconds : 0
  }
}
