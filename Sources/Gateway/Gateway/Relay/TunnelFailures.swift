import LiveSources
import Locking
import NIOCore
import RateLimiting
import SystemSupport

/// Reports failures at one end of a tunnel, in at most one line per ten seconds, because strangers
/// can cause any number of failures.
final class TunnelFailures: Sendable {
  private struct State {
    var lines = Throttle<String>(interval: .seconds(10))
    var leftOut = 0

    /// Returns the line to report according to the throttle's decision; `nil` if nothing is to be
    /// reported.
    mutating func line(of step: Step<String>) -> String? {
      leftOut += step.coalesced
      guard let line = step.output else { return nil }
      defer { leftOut = 0 }
      return leftOut == 0 ? line : "\(line) (\(leftOut) more omitted)"
    }
  }

  private let state = Guarded(State())
  private let loop: any EventLoop
  private let report: @Sendable (String) -> Void

  init(on loop: any EventLoop, _ report: @escaping @Sendable (String) -> Void) {
    (self.loop, self.report) = (loop, report)
  }

  func record(_ peer: String, _ reason: String) {
    let (line, wake) = state.withLock { state -> (String?, Instant?) in
      let isAwaited = state.lines.deadline != nil
      let step = state.lines.push("\(peer): \(reason)", at: SourceDelivery.now)
      return (state.line(of: step), isAwaited ? nil : step.wake)
    }
    emit(line, next: wake)
  }

  private func wake() {
    let (line, wake) = state.withLock { state -> (String?, Instant?) in
      let step = state.lines.wake(at: SourceDelivery.now)
      return (state.line(of: step), step.wake)
    }
    emit(line, next: wake)
  }

  private func emit(_ line: String?, next wake: Instant?) {
    if let line { report(line) }
    guard let wake else { return }
    loop.scheduleTask(in: .nanoseconds((wake - SourceDelivery.now).nanoseconds)) { self.wake() }
  }

  /// Returns the address of the other end of a connection.
  static func name(of channel: any Channel) -> String {
    channel.remoteAddress?.ipAddress ?? "a machine"
  }
}
