import Dispatch
import Glibc
import NIOCore
import Platform
package import Systemd

/// Lanes that are held on demand, and a journal that takes little, for tests.
///
/// Off unless the environment asks for it:
/// - `LIVEHOST_BLOCK_LANE_MS=N`: then `SIGUSR2` holds the first lane for so many milliseconds.
/// - `LIVEHOST_HOLD=action:KIND=N,view:NAME=N`: each action of the kind and each evaluation of the
///   view computes for so many milliseconds.
/// - `LIVEHOST_JOURNAL_CAPACITY=N`: so many entries wait for the journal at most, so that some are lost
///   within the time of a test.
package struct FaultInjection: Sendable {
  private let holds: [LaneActivity.Work: UInt64]
  let holdsActions: Bool
  let holdsViews: Bool

  /// No faults, or those given: how long, in milliseconds, each work holds its lane.
  package init(_ holds: [LaneActivity.Work: UInt64] = [:]) {
    self.holds = holds
    holdsActions = holds.keys.contains { if case .action = $0 { true } else { false } }
    holdsViews = holds.keys.contains { if case .view = $0 { true } else { false } }
  }

  /// Reads what `LIVEHOST_HOLD` says; what it does not understand is ignored.
  static func fromEnvironment() -> FaultInjection {
    guard let text = getenv("LIVEHOST_HOLD").map({ String(cString: $0) }) else {
      return FaultInjection()
    }
    var holds: [LaneActivity.Work: UInt64] = [:]
    for entry in text.split(separator: ",") {
      let parts = entry.split(separator: "=")
      guard parts.count == 2, let milliseconds = UInt64(parts[1]) else { continue }
      let name = parts[0].drop { $0 != ":" }.dropFirst()
      if parts[0].hasPrefix("action:") { holds[.action(String(name))] = milliseconds }
      if parts[0].hasPrefix("view:") { holds[.view(String(name))] = milliseconds }
    }
    return FaultInjection(holds)
  }

  /// The limits of the queue before the journal.
  package static func journalLimits() -> JournalLimits {
    var limits = JournalLimits()
    if let text = getenv("LIVEHOST_JOURNAL_CAPACITY"), let capacity = Int(String(cString: text)) {
      limits.capacity = capacity
    }
    return limits
  }

  /// Computes for as long as this work is to be held.
  func hold(_ work: LaneActivity.Work) {
    guard let milliseconds = holds[work] else { return }
    let end = MonotonicClock.nanoseconds() + milliseconds * 1_000_000
    while MonotonicClock.nanoseconds() < end {}
  }

  /// Waits for `SIGUSR2`, if the environment asks for it; cancel it at the end.
  static func holdOnSignal(lanes: [HostLane]) -> (any DispatchSourceSignal)? {
    guard let text = getenv("LIVEHOST_BLOCK_LANE_MS").map({ String(cString: $0) }),
      let milliseconds = UInt32(text), let lane = lanes.first
    else { return nil }
    signal(SIGUSR2, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: .global())
    source.setEventHandler {
      lane.eventLoop.execute { lane.meter.measure { sleep(milliseconds: milliseconds) } }
    }
    source.resume()
    return source
  }

  private static func sleep(milliseconds: UInt32) {
    var time = timespec(
      tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    var left = timespec()
    while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
  }
}
