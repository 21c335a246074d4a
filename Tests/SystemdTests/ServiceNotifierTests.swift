import Glibc
import Synchronization
import SystemSupport
import Systemd
import Testing

/// Stores the messages of a notifier.
private final class Manager: Sendable {
  private let received = Mutex<[String]>([])
  private let result: Int32

  init(result: Int32 = 1) { self.result = result }

  var texts: [String] { received.withLock { $0 } }
  var notifier: ServiceNotifier {
    ServiceNotifier { text in
      self.received.withLock { $0.append(text) }
      return self.result
    }
  }
}

@Suite struct ServiceNotifierTests {
  @Test func `each state of the service is sent to systemd as its message`() throws {
    let manager = Manager()
    let notifier = manager.notifier
    try notifier.ready(status: "2 rooms")
    try notifier.status("3 rooms")
    try notifier.watchdog()
    try notifier.extendTimeout(microseconds: 5_000_000)
    try notifier.stopping()
    #expect(
      manager.texts == [
        "READY=1\nSTATUS=2 rooms", "STATUS=3 rooms", "WATCHDOG=1", "EXTEND_TIMEOUT_USEC=5000000",
        "STOPPING=1",
      ])
  }

  @Test func `the message about a reload carries the monotonic time in microseconds`() throws {
    let manager = Manager()
    try manager.notifier.reloading(monotonicNanoseconds: 12_345_678, status: nil)
    #expect(manager.texts == ["RELOADING=1\nMONOTONIC_USEC=12345"])
  }

  @Test func `a status text cannot contain another assignment`() throws {
    let manager = Manager()
    try manager.notifier.status("room\nSTOPPING=1\r\nWATCHDOG=trigger\0")
    #expect(manager.texts == ["STATUS=room STOPPING=1  WATCHDOG=trigger "])
  }

  @Test func `a failed notification names the operation and the errno`() {
    let error = #expect(throws: SystemError.self) {
      try Manager(result: -ECONNREFUSED).notifier.ready()
    }
    #expect(error?.operation == .notify)
    #expect(error?.code == ECONNREFUSED)
    #expect(error?.description == "notify: Connection refused (errno 111)")
  }
}
