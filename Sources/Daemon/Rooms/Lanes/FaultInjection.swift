import Glibc
import NIOCore
import SystemSupport
package import Systemd

/// Faults for tests: holds lanes on demand and limits the journal's queue.
///
/// Off unless the environment enables them:
/// - `LIVEHOST_BLOCK_LANE_MS=N`: `SIGUSR2` holds the first lane for N milliseconds.
/// - `LIVEHOST_HOLD=action:KIND=N,view:NAME=N`: each action of the kind, and each evaluation of the
///   view, computes for N milliseconds.
/// - `LIVEHOST_JOURNAL_CAPACITY=N`: at most N entries are queued for the journal, so that a test
///   can cause the loss of entries.
package struct FaultInjection: Sendable {
  private let holds: [LaneActivity.Work: UInt64]
  let holdsActions: Bool
  let holdsViews: Bool

  /// How long `SIGUSR2` holds the first lane, in milliseconds; `nil` if the signal is not trapped.
  package let laneHold: UInt32?

  /// Creates faults from the times, in milliseconds, for which each kind of work and `SIGUSR2` hold
  /// a lane.
  package init(_ holds: [LaneActivity.Work: UInt64] = [:], laneHold: UInt32? = nil) {
    self.holds = holds
    self.laneHold = laneHold
    holdsActions = holds.keys.contains { if case .action = $0 { true } else { false } }
    holdsViews = holds.keys.contains { if case .view = $0 { true } else { false } }
  }

  /// Returns the faults that the environment enables. Ignores malformed entries.
  package static func fromEnvironment() -> FaultInjection {
    func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    var holds: [LaneActivity.Work: UInt64] = [:]
    for entry in (text("LIVEHOST_HOLD") ?? "").split(separator: ",") {
      let parts = entry.split(separator: "=")
      guard parts.count == 2, let milliseconds = UInt64(parts[1]) else { continue }
      let name = parts[0].drop { $0 != ":" }.dropFirst()
      if parts[0].hasPrefix("action:") { holds[.action(String(name))] = milliseconds }
      if parts[0].hasPrefix("view:") { holds[.view(String(name))] = milliseconds }
    }
    return FaultInjection(holds, laneHold: text("LIVEHOST_BLOCK_LANE_MS").flatMap { UInt32($0) })
  }

  package static func journalLimits() -> JournalLimits {
    var limits = JournalLimits()
    if let text = getenv("LIVEHOST_JOURNAL_CAPACITY"), let capacity = Int(String(cString: text)) {
      limits.capacity = capacity
    }
    return limits
  }

  /// Computes for as long as this work is configured to hold its lane.
  func hold(_ work: LaneActivity.Work) {
    guard let milliseconds = holds[work] else { return }
    let end = MonotonicClock.nanoseconds() + milliseconds * 1_000_000
    while MonotonicClock.nanoseconds() < end {}
  }

  /// Blocks the first lane for `LIVEHOST_BLOCK_LANE_MS`, in a separate turn.
  package func holdLane(_ lanes: [HostLane]) {
    guard let lane = lanes.first, let milliseconds = laneHold else { return }
    lane.eventLoop.execute { lane.meter.measure { Self.sleep(milliseconds: milliseconds) } }
  }

  private static func sleep(milliseconds: UInt32) {
    var time = timespec(
      tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    var left = timespec()
    while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
  }
}
