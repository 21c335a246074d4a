import Glibc
import HostScreen
package import Platform

/// Observes the lanes from a thread of its own, and reports which turns would have been hangs, and
/// why.
package final class HangMonitor: Sendable {
  /// How often it looks, in nanoseconds: a reported turn has been seen at least four times.
  package static let period: UInt64 = 50_000_000

  private let stopSignal: WakeSignal

  /// Starts looking.
  ///
  /// - Parameter report: called on the monitor's thread for each long turn, once it has ended.
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
          for turn in lane.meter.takeLongTurns() { report(lane, detectors[index].finish(turn)) }
          let turn = lane.meter.current?.number
          detectors[index].sample(
            turn: turn, activity: lane.meter.activity.present,
            isAsleep: turn.flatMap { _ in SchedulerTimes.isAsleep(thread: lane.threadID) })
        }
      }
    }
  }

  /// Ends the thread soon. May be called twice.
  package func stop() { stopSignal.raise() }

  deinit { stopSignal.raise() }
}
