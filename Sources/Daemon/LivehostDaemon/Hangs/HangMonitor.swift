import Glibc
import HostScreen
package import Rooms
package import SystemSupport

/// Samples the lanes from a dedicated thread, and reports each long turn with its cause.
package final class HangMonitor: Sendable {
  /// The interval between samples, in nanoseconds, short enough to sample a reported turn at least
  /// four times.
  package static let period: UInt64 = 50_000_000

  private let stopSignal: WakeSignal

  /// Starts the thread, which calls `report` for each long turn after its end.
  package init(
    _ lanes: [HostLane],
    report: @escaping @Sendable (HostLane, HangDetector.Finding) -> Void
  ) throws(SystemError) {
    let signal = try WakeSignal()
    stopSignal = signal
    try ServiceThread.start(name: "hang-monitor") {
      var detectors = lanes.map { _ in HangDetector() }
      while !signal.wait(nanoseconds: Self.period) {
        for (index, lane) in lanes.enumerated() {
          for turn in lane.meter.removeLongTurns() { report(lane, detectors[index].finish(turn)) }
          let turn = lane.meter.current?.number
          detectors[index].sample(
            turn: turn, activity: lane.meter.activity.present,
            isAsleep: turn.flatMap { _ in SchedulerTimes.isAsleep(thread: lane.threadID) })
        }
      }
    }
  }

  /// Makes the thread end soon, without waiting for it. May be called more than once.
  package func stop() { stopSignal.raise() }

  deinit { stopSignal.raise() }
}
