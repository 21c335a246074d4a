import Glibc
import SocketTestSupport
import SystemSupport
import Systemd
import TestSupport
import Testing

/// Tests of functions that read the process environment. Serialised, because there is only one
/// environment.
@Suite(.serialized) struct EnvironmentTests {
  private let directory = TemporaryDirectory()

  @Test func `without a service manager, every notification succeeds without effect`() throws {
    unsetenv("NOTIFY_SOCKET")
    let notifier = ServiceNotifier()
    try notifier.ready(status: "x")
    try notifier.stopping()
    try notifier.reloading()
    try notifier.barrier(timeoutMicroseconds: 0)
  }

  @Test func `notifications arrive at the service manager's socket`() throws {
    let socket = try NotifySocket(path: directory.path + "/socket")
    defer { unsetenv("NOTIFY_SOCKET") }
    setenv("NOTIFY_SOCKET", socket.path, 1)
    let notifier = ServiceNotifier()
    try notifier.ready(status: "up")
    #expect(socket.next(seconds: 0) == ["READY=1", "STATUS=up"])
    let before = MonotonicClock.nanoseconds() / 1000
    try notifier.reloading()
    let lines = try #require(socket.next(seconds: 0))
    #expect(lines.first == "RELOADING=1")
    let time = lines.last?.split(separator: "=").last.flatMap { UInt64($0) }
    #expect(try #require(time) >= before)
  }

  @Test func `an unreachable service manager is an error`() throws {
    defer { unsetenv("NOTIFY_SOCKET") }
    setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1)
    #expect(throws: SystemError(.notify, code: ENOENT)) { try ServiceNotifier().ready() }
  }

  @Test func `the watchdog interval is used only if it is meant for this process`() throws {
    defer {
      unsetenv("WATCHDOG_USEC")
      unsetenv("WATCHDOG_PID")
    }
    unsetenv("WATCHDOG_USEC")
    unsetenv("WATCHDOG_PID")
    #expect(try WatchdogInterval.fromEnvironment() == nil)
    setenv("WATCHDOG_USEC", "3000000", 1)
    #expect(try WatchdogInterval.fromEnvironment() == WatchdogInterval(microseconds: 3_000_000))
    setenv("WATCHDOG_PID", "1", 1)
    #expect(try WatchdogInterval.fromEnvironment() == nil)
    setenv("WATCHDOG_PID", "\(getpid())", 1)
    setenv("WATCHDOG_USEC", "often", 1)
    #expect(throws: SystemError.self) { try WatchdogInterval.fromEnvironment() }
  }

  @Test func `inherited descriptors are ignored if they are meant for another process`()
    throws
  {
    func unset() {
      for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
    }
    unset()
    defer { unset() }
    #expect(try ActivatedDescriptors.take().sockets.isEmpty)
    setenv("LISTEN_PID", "1", 1)
    setenv("LISTEN_FDS", "2", 1)
    #expect(try ActivatedDescriptors.take().sockets.isEmpty)
    #expect(getenv("LISTEN_FDS") == nil)
    setenv("LISTEN_PID", "\(getpid())", 1)
    setenv("LISTEN_FDS", "some", 1)
    #expect(throws: ActivatedDescriptors.Failure.self) { try ActivatedDescriptors.take() }
  }
}
