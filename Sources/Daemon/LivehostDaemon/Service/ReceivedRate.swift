package import NIOCore

/// How many events a second the daemon has received in the last ten.
package struct ReceivedRate: Sendable {
  private static let window = TimeAmount.seconds(10)
  /// Totals, oldest first, all in the window.
  private var samples: [(at: NIODeadline, total: Int)] = []

  package init() {}

  /// - Parameter total: of all rooms, which begins with what they had received before a restart.
  package mutating func note(_ total: Int, at now: NIODeadline) {
    samples.removeAll { $0.at < now - Self.window }
    samples.append((now, total))
  }

  /// 0 before the first sample.
  package func rate(_ total: Int, at now: NIODeadline) -> Double {
    guard let base = samples.first(where: { $0.at >= now - Self.window }) else { return 0 }
    let seconds = Double((now - base.at).nanoseconds) / 1e9
    // The total of a room that was closed while it was being counted may be missing.
    return seconds > 0 ? Double(max(0, total - base.total)) / seconds : 0
  }
}
