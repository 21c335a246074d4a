import CSystemd
package import Platform

/// Tells the service manager about the state of this process (`sd_notify(3)`).
///
/// Every method does nothing, without an error, if the process was not started by a service
/// manager that listens (`NOTIFY_SOCKET` unset). All methods may be called from any thread; each
/// is one `sendmsg` and does not wait for the manager, except ``barrier(timeoutMicroseconds:)``.
package struct ServiceNotifier: Sendable {
  /// Sends a message; the result is libsystemd's: positive if sent, 0 without a manager that
  /// listens, a negative `errno` on failure.
  package typealias Transport = @Sendable (_ message: String) -> Int32

  private let transport: Transport
  private let waitForManager: @Sendable (UInt64) -> Int32

  /// A notifier for the manager named by `NOTIFY_SOCKET`.
  package init() {
    transport = { sd_notify(0, $0) }
    waitForManager = { sd_notify_barrier(0, $0) }
  }

  /// A notifier that hands its messages to `transport`, for tests.
  package init(transport: @escaping Transport) {
    self.transport = transport
    waitForManager = { _ in 1 }
  }

  /// Start-up, or a reload, is complete.
  package func ready(status: String? = nil) throws(SystemError) {
    try send(.notify, ["READY=1"], status: status)
  }

  /// Sets the line that `systemctl status` shows. Line breaks become spaces.
  package func status(_ text: String) throws(SystemError) {
    try send(.notify, [], status: text)
  }

  /// The service shuts down. This starts the manager's stop time-out (`TimeoutStopSec=`), after
  /// which the process is killed: send it only when really stopping.
  package func stopping(status: String? = nil) throws(SystemError) {
    try send(.notify, ["STOPPING=1"], status: status)
  }

  /// A reload begins, now. End it by ``ready(status:)``, also if the reload failed.
  package func reloading(status: String? = nil) throws(SystemError) {
    try reloading(monotonicNanoseconds: MonotonicClock.nanoseconds(), status: status)
  }

  package func reloading(
    monotonicNanoseconds: UInt64, status: String?
  ) throws(SystemError) {
    try send(
      .notify, ["RELOADING=1", "MONOTONIC_USEC=\(monotonicNanoseconds / 1000)"], status: status)
  }

  /// Moves the current start, stop or run time-out to `microseconds` from now. Repeat it before
  /// that time is over for as long as the work continues.
  package func extendTimeout(microseconds: UInt64) throws(SystemError) {
    try send(.notify, ["EXTEND_TIMEOUT_USEC=\(microseconds)"])
  }

  /// Feeds the watchdog. Called by ``WatchdogDriver`` only, on progress of the watched loops.
  package func watchdog() throws(SystemError) {
    try send(.notify, ["WATCHDOG=1"])
  }

  /// Waits until the manager has read every message sent before.
  ///
  /// - Throws: `ETIMEDOUT` if that takes longer than `timeoutMicroseconds`.
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

  /// A line break would end the assignment and begin another one. Works on scalars, because
  /// CR LF is one `Character`.
  private static func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      line.append(scalar.value < 0x20 ? " " : scalar)
    }
    return String(line)
  }
}
