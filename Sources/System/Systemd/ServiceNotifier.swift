import CSystemd
package import SystemSupport

/// Reports the state of this process to the service manager (`sd_notify(3)`).
///
/// If `NOTIFY_SOCKET` is unset, no service manager listens, and every method does nothing. All
/// methods may be called from any thread. All except ``barrier(timeoutMicroseconds:)`` are one
/// `sendmsg`, and do not wait for the manager.
package struct ServiceNotifier: Sendable {
  /// Sends a message. The result is libsystemd's: positive if sent, 0 if no manager listens, a
  /// negative `errno` on failure.
  package typealias Transport = @Sendable (_ message: String) -> Int32

  private let transport: Transport
  private let waitForManager: @Sendable (UInt64) -> Int32

  /// Creates a notifier for the manager named by `NOTIFY_SOCKET`.
  package init() {
    transport = { sd_notify(0, $0) }
    waitForManager = { sd_notify_barrier(0, $0) }
  }

  /// Creates a notifier that passes its messages to `transport`, for tests.
  package init(transport: @escaping Transport) {
    self.transport = transport
    waitForManager = { _ in 1 }
  }

  /// Reports that the start or a reload is complete.
  package func ready(status: String? = nil) throws(SystemError) {
    try send(.notify, ["READY=1"], status: status)
  }

  /// Sets the line that `systemctl status` shows. Line breaks become spaces.
  package func status(_ text: String) throws(SystemError) {
    try send(.notify, [], status: text)
  }

  /// Reports that the service is shutting down. Call this only when really stopping, because the
  /// manager kills the process after `TimeoutStopSec=`.
  package func stopping(status: String? = nil) throws(SystemError) {
    try send(.notify, ["STOPPING=1"], status: status)
  }

  /// Reports that a reload begins now. Call ``ready(status:)`` afterwards, even if the reload
  /// failed.
  package func reloading(status: String? = nil) throws(SystemError) {
    try reloading(monotonicNanoseconds: MonotonicClock.nanoseconds(), status: status)
  }

  package func reloading(
    monotonicNanoseconds: UInt64, status: String?
  ) throws(SystemError) {
    try send(
      .notify, ["RELOADING=1", "MONOTONIC_USEC=\(monotonicNanoseconds / 1000)"], status: status)
  }

  /// Extends the current start, stop or run timeout to `microseconds` from now. Repeat this before
  /// the timeout for as long as the work continues.
  package func extendTimeout(microseconds: UInt64) throws(SystemError) {
    try send(.notify, ["EXTEND_TIMEOUT_USEC=\(microseconds)"])
  }

  /// Feeds the watchdog. Only ``WatchdogDriver`` calls this, when the watched loops make progress.
  package func watchdog() throws(SystemError) {
    try send(.notify, ["WATCHDOG=1"])
  }

  /// Waits until the manager has read all earlier messages. Throws `ETIMEDOUT` after
  /// `timeoutMicroseconds`.
  package func barrier(timeoutMicroseconds: UInt64) throws(SystemError) {
    let result = waitForManager(timeoutMicroseconds)
    if result < 0 { throw SystemError(.notifyBarrier, code: result) }
  }

  private func send(
    _ operation: SystemError.Operation, _ assignments: [String], status: String? = nil
  ) throws(SystemError) {
    var lines = assignments
    if let status { lines.append("STATUS=\(Self.oneLine(status))") }
    let result = transport(lines.joined(separator: "\n"))
    if result < 0 { throw SystemError(operation, code: result) }
  }

  /// Replaces line breaks, which would end the assignment and begin another. Works on scalars,
  /// because CR LF is one `Character`.
  private static func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      line.append(scalar.value < 0x20 ? " " : scalar)
    }
    return String(line)
  }
}
