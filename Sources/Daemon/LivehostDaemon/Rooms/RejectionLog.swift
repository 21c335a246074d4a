package import Ingest
package import LiveEvents
package import Logging
package import NIOCore
import Platform
import Systemd

/// Logs rejected input with reasons and counts, as decided by ``RejectionDigest``.
///
/// May be used from any thread; takes a lock once per delivery that has rejected lines.
package final class RejectionLog: Sendable {
  private struct State {
    var digest = RejectionDigest()
    var isScheduled = false
  }

  private let state = Guarded(State())
  private let eventLoop: any EventLoop
  private let logger: Logger

  /// - Parameter eventLoop: where the time of sums is kept.
  package init(eventLoop: any EventLoop, logger: Logger) {
    self.eventLoop = eventLoop
    self.logger = logger
  }

  /// Notes lines rejected with a delivery.
  package func note(_ counts: RejectionCounts, in room: RoomName?) {
    let now = NIODeadline.now()
    let (sums, due) = state.withLock { state in
      let sums = counts.byReason.compactMap {
        state.digest.add($0.reason, count: $0.count, room: room, now: now.uptimeNanoseconds)
      }
      return (sums, wakeUpTime(&state))
    }
    log(sums)
    schedule(due)
  }

  /// Logs everything not logged yet.
  package func flush() {
    let now = NIODeadline.now().uptimeNanoseconds
    log(state.withLock { $0.digest.takeDue(now: now, flushing: true) })
  }

  /// When to wake up, unless that is already scheduled.
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
      return (state.digest.takeDue(now: now), wakeUpTime(&state))
    }
    log(sums)
    schedule(due)
  }

  private func log(_ sums: [RejectionDigest.Sum]) {
    for sum in sums {
      let lines = sum.count == 1 ? "1 line" : "\(sum.count) lines"
      let place = sum.room.map { " of room \($0)" } ?? ""
      var metadata: Logger.Metadata = [
        "reason": "\(sum.reason.rawValue)", "count": "\(sum.count)",
      ]
      metadata["room"] = sum.room.map { "\($0)" }
      logger.log(
        .inputRejected, "input rejected: \(lines)\(place): \(sum.reason.meaning)",
        metadata: metadata)
    }
  }
}

extension RejectionReason {
  /// What is wrong, and what is right instead.
  var meaning: String {
    switch self {
    case .malformedJSON: "looks like JSON and is not; send one object per line"
    case .invalidUTF8: "no valid UTF-8; send text in UTF-8"
    case .unknownType: "unknown 'type'; see livehost-events(5) for the types"
    case .missingMember: "a member that the type requires is absent"
    case .invalidValue: "a member has the wrong type or is out of range"
    case .invalidRoom: "the room's name breaks the rule [a-z0-9_][a-z0-9_.-]{0,63}"
    case .lineTooLong: "longer than 64 KiB; end each event by a line feed"
    case .unknownFormat: "neither a JSON object nor a line of Twitch IRC"
    case .malformedIRC: "a line of Twitch IRC that breaks its grammar or lacks a tag"
    case .protocolLine: "drives the source's protocol and says nothing about the stream"
    case .duplicate: "its identifier was seen before"
    case .tooManyRooms: "as many rooms are open as rooms.maximum allows; close one or raise it"
    case .roomClosed: "the room was closed before it arrived"
    }
  }
}
