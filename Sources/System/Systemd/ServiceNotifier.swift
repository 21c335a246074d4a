import CSystemd
import Glibc

/// Tells the service manager about the state of this process (`sd_notify(3)`).
///
/// Every method does nothing, without an error, if the process was not started by a service
/// manager that listens (`NOTIFY_SOCKET` unset). All methods may be called from any thread; each
/// is one `sendmsg` and does not wait for the manager, except ``barrier(timeoutMicroseconds:)``.
public struct ServiceNotifier: Sendable {
  /// Sends a message with descriptors; the result is libsystemd's: positive if sent, 0 if
  /// nobody listens, a negative `errno` on failure.
  package typealias Transport = @Sendable (_ message: String, _ descriptors: [Int32]) -> Int32

  private let transport: Transport
  private let waitForManager: @Sendable (UInt64) -> Int32

  /// A notifier for the manager named by `NOTIFY_SOCKET`.
  public init() {
    transport = { message, descriptors in
      descriptors.isEmpty
        ? sd_notify(0, message)
        : sd_pid_notify_with_fds(0, 0, message, descriptors, UInt32(descriptors.count))
    }
    waitForManager = { sd_notify_barrier(0, $0) }
  }

  /// A notifier that hands its messages to `transport`, for tests.
  package init(transport: @escaping Transport) {
    self.transport = transport
    waitForManager = { _ in 1 }
  }

  /// Whether a manager listens, that is, whether `NOTIFY_SOCKET` is set.
  public static var isManaged: Bool { getenv("NOTIFY_SOCKET") != nil }

  /// Start-up, or a reload, is complete.
  public func ready(status: String? = nil) throws(SystemdError) {
    try send(.notify, ["READY=1"], status: status)
  }

  /// Sets the line that `systemctl status` shows. Line breaks become spaces.
  public func status(_ text: String) throws(SystemdError) {
    try send(.notify, [], status: text)
  }

  /// The service shuts down. This starts the manager's stop time-out (`TimeoutStopSec=`), after
  /// which the process is killed: send it only when really stopping.
  public func stopping(status: String? = nil) throws(SystemdError) {
    try send(.notify, ["STOPPING=1"], status: status)
  }

  /// A reload begins, now. End it by ``ready(status:)``, also if the reload failed.
  public func reloading(status: String? = nil) throws(SystemdError) {
    try reloading(monotonicNanoseconds: MonotonicClock.nanoseconds(), status: status)
  }

  package func reloading(
    monotonicNanoseconds: UInt64, status: String?
  ) throws(SystemdError) {
    try send(
      .notify, ["RELOADING=1", "MONOTONIC_USEC=\(monotonicNanoseconds / 1000)"], status: status)
  }

  /// Moves the current start, stop or run time-out to `microseconds` from now. Repeat it before
  /// that time is over for as long as the work goes on.
  public func extendTimeout(microseconds: UInt64) throws(SystemdError) {
    try send(.notify, ["EXTEND_TIMEOUT_USEC=\(microseconds)"])
  }

  /// Feeds the watchdog. Called by ``WatchdogDriver`` only, on progress of the watched loops.
  public func watchdog() throws(SystemdError) {
    try send(.notify, ["WATCHDOG=1"])
  }

  /// Waits until the manager has read every message sent before.
  ///
  /// - Throws: `ETIMEDOUT` if that takes longer than `timeoutMicroseconds`.
  public func barrier(timeoutMicroseconds: UInt64) throws(SystemdError) {
    let result = waitForManager(timeoutMicroseconds)
    if result < 0 { throw SystemdError(.notifyBarrier, code: result) }
  }

  /// Leaves a descriptor with the manager, which passes it to the next start of this service
  /// (needs `FileDescriptorStoreMax=`). The caller keeps, and closes, its own copy.
  ///
  /// - Parameter name: 1 to 255 ASCII characters, no control character, no `:`.
  /// - Throws: `EINVAL` for a bad name.
  public func storeDescriptor(_ descriptor: Int32, name: String) throws(SystemdError) {
    try Self.check(name: name, for: .storeDescriptor)
    // FDPOLL=0: without it the manager drops a descriptor that reports an error or a hang-up.
    // What is stored stays until it is removed by name.
    try send(
      .storeDescriptor, ["FDSTORE=1", "FDNAME=\(name)", "FDPOLL=0"], descriptors: [descriptor])
  }

  /// Stores `bytes` with the manager in a sealed memory file; read them back after a restart
  /// with ``MemoryFile/read(descriptor:maximumBytes:)``. An older one of the same name stays until
  /// ``removeDescriptors(named:)``.
  public func storeMemory(_ bytes: [UInt8], name: String) throws(SystemdError) {
    try Self.check(name: name, for: .storeDescriptor)
    let descriptor = try MemoryFile.make(bytes, name: name)
    defer { close(descriptor) }
    try storeDescriptor(descriptor, name: name)
  }

  /// Removes the stored descriptors of this name.
  public func removeDescriptors(named name: String) throws(SystemdError) {
    try Self.check(name: name, for: .removeDescriptors)
    try send(.removeDescriptors, ["FDSTOREREMOVE=1", "FDNAME=\(name)"])
  }

  private func send(
    _ operation: SystemdError.Operation, _ assignments: [String], status: String? = nil,
    descriptors: [Int32] = []
  ) throws(SystemdError) {
    var lines = assignments
    if let status { lines.append("STATUS=\(Self.oneLine(status))") }
    let result = transport(lines.joined(separator: "\n"), descriptors)
    if result < 0 { throw SystemdError(operation, code: result) }
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

  private static func check(
    name: String, for operation: SystemdError.Operation
  ) throws(SystemdError) {
    let legal =
      (1...255).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: ":") }
    if !legal { throw SystemdError(operation, code: EINVAL, context: "name") }
  }
}
