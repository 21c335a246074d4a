import Glibc
import NIOCore
import Platform
package import Systemd

/// Holds lanes on demand and limits the journal, for tests.
///
/// Off unless enabled by the environment:
/// - `LIVEHOST_BLOCK_LANE_MS=N`: `SIGUSR2` holds the first lane for N milliseconds.
/// - `LIVEHOST_HOLD=action:KIND=N,view:NAME=N`: each action of the kind and each evaluation of the
///   view computes for N milliseconds.
/// - `LIVEHOST_JOURNAL_CAPACITY=N`: at most N entries wait for the journal, so that some are lost
///   in the course of a test.
package struct FaultInjection: Sendable {
  private let holds: [LaneActivity.Work: UInt64]
  let holdsActions: Bool
  let holdsViews: Bool

  /// How long `SIGUSR2` holds the first lane, in milliseconds; nil if it does not.
  let laneHold: UInt32?

  /// No faults, or those given.
  ///
  /// - Parameter holds: how long each work holds its lane, in milliseconds.
  package init(_ holds: [LaneActivity.Work: UInt64] = [:], laneHold: UInt32? = nil) {
    self.holds = holds
    self.laneHold = laneHold
    holdsActions = holds.keys.contains { if case .action = $0 { true } else { false } }
    holdsViews = holds.keys.contains { if case .view = $0 { true } else { false } }
  }

  /// Reads the environment, ignoring what it does not understand.
  static func fromEnvironment() -> FaultInjection {
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

  /// The limits of the queue before the journal.
  package static func journalLimits() -> JournalLimits {
    var limits = JournalLimits()
    if let text = getenv("LIVEHOST_JOURNAL_CAPACITY"), let capacity = Int(String(cString: text)) {
      limits.capacity = capacity
    }
    return limits
  }

  /// Computes for as long as this work should hold its lane.
  func hold(_ work: LaneActivity.Work) {
    guard let milliseconds = holds[work] else { return }
    let end = MonotonicClock.nanoseconds() + milliseconds * 1_000_000
    while MonotonicClock.nanoseconds() < end {}
  }

  /// Holds the first lane as `LIVEHOST_BLOCK_LANE_MS` says, in a turn of its own.
  func holdLane(_ lanes: [HostLane]) {
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
