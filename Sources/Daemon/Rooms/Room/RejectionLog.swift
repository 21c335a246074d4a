package import Ingest
package import LiveEvents
import Locking
package import Logging
package import NIOCore
import SystemSupport
import Systemd
package import WireFormats
import Wording

/// Logs rejected input with reasons and counts, at the times that ``RejectionDigest`` decides. Also
/// counts remarks about lines, and logs the first remark of each kind.
///
/// May be used from any thread; takes a lock once per delivery that has rejected lines.
package final class RejectionLog: Sendable {
  private struct State {
    var digest = RejectionDigest()
    var isScheduled = false
    /// The counts since the daemon started.
    var counts = RejectionCounts()
  }

  private let state = Guarded(State())
  private let eventLoop: any EventLoop
  private let logger: Logger

  /// - Parameter eventLoop: runs the timer for sums.
  package init(eventLoop: any EventLoop, logger: Logger) {
    self.eventLoop = eventLoop
    self.logger = logger
  }

  /// Records the lines of a delivery that were rejected.
  package func record(_ counts: RejectionCounts, in room: RoomName?) {
    let now = NIODeadline.now()
    let (sums, due, first) = state.withLock { state in
      let first = counts.remarks.keys.filter { state.counts.remarks[$0] == nil }
      for (remark, count) in counts.remarks { state.counts.add(remark, count: count) }
      let sums = counts.byReason.compactMap {
        state.digest.add(
          $0.reason, count: $0.count, room: room, fault: counts.firstFault($0.reason),
          now: now.uptimeNanoseconds)
      }
      return (sums, wakeUpTime(&state), first)
    }
    log(sums)
    // If a line of an unknown kind was rejected, its reason has been logged, so the remark is
    // omitted.
    for remark in first where !isReported(remark, counts) { log(remark, in: room) }
    schedule(due)
  }

  /// The number of remarks of each kind since the daemon started.
  package var remarks: [DecodingRemark: Int] { state.withLock { $0.counts.remarks } }

  private func isReported(_ remark: DecodingRemark, _ counts: RejectionCounts) -> Bool {
    guard case .kind(let name) = remark else { return false }
    return counts.firstFault(.unknownType) == "'\(name)'"
  }

  private func log(_ remark: DecodingRemark, in room: RoomName?) {
    let location = room.map { " in room \($0)" } ?? ""
    let (reason, text) =
      switch remark {
      case .field(let name):
        (
          "unusableField",
          "field \(SafeText.spelled(name)) without a usable value\(location); the rest of the line was accepted"
        )
      case .kind(let name):
        (
          "unknownKind",
          "unknown kind of event \(SafeText.spelled(name))\(location); it is not shown"
        )
      }
    var metadata: Logger.Metadata = ["reason": "\(reason)", "count": "1"]
    metadata["room"] = room.map { "\($0)" }
    logger.log(.inputRejected, "\(text)", metadata: metadata)
  }

  /// Logs all pending sums.
  package func flush() {
    let now = NIODeadline.now().uptimeNanoseconds
    log(state.withLock { $0.digest.removeDue(now: now, flushing: true) })
  }

  /// Returns the time of the next wake-up; nil if it is already scheduled.
  private func wakeUpTime(_ state: inout State) -> UInt64? {
    guard !state.isScheduled, let due = state.digest.nextDue else { return nil }
    state.isScheduled = true
    return due
  }

  private func schedule(_ due: UInt64?) {
    guard let due else { return }
    eventLoop.scheduleTask(deadline: .uptimeNanoseconds(due)) { self.wakeUp() }
  }

  private func wakeUp() {
    let now = NIODeadline.now().uptimeNanoseconds
    let (sums, due) = state.withLock { state in
      state.isScheduled = false
      return (state.digest.removeDue(now: now), wakeUpTime(&state))
    }
    log(sums)
    schedule(due)
  }

  private func log(_ sums: [RejectionDigest.Sum]) {
    for sum in sums {
      let lines = sum.count == 1 ? "1 line" : "\(sum.count) lines"
      let location = sum.room.map { " of room \($0)" } ?? ""
      var metadata: Logger.Metadata = [
        "reason": "\(sum.reason.rawValue)", "count": "\(sum.count)",
      ]
      metadata["room"] = sum.room.map { "\($0)" }
      let meaning = sum.reason.explanation(sum.fault, lines: sum.count)
      logger.log(
        .inputRejected, "input rejected: \(lines)\(location): \(meaning)", metadata: metadata)
    }
  }
}
