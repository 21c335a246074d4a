import Glibc
import Synchronization
import Systemd
import Testing

/// Keeps what a notifier sends.
private final class Manager: Sendable {
  struct Message: Equatable {
    var text: String
    var descriptorCount = 0
  }
  private let received = Mutex<[Message]>([])
  private let result: Int32

  init(result: Int32 = 1) { self.result = result }

  var messages: [Message] { received.withLock { $0 } }
  var texts: [String] { messages.map(\.text) }
  var notifier: ServiceNotifier {
    ServiceNotifier { text, descriptors in
      self.received.withLock { $0.append(Message(text: text, descriptorCount: descriptors.count)) }
      return self.result
    }
  }
}

@Suite struct ServiceNotifierTests {
  @Test func `each state has its message`() throws {
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

  @Test func `a reload carries the monotonic time in microseconds`() throws {
    let manager = Manager()
    try manager.notifier.reloading(monotonicNanoseconds: 12_345_678, status: nil)
    #expect(manager.texts == ["RELOADING=1\nMONOTONIC_USEC=12345"])
  }

  @Test func `a status cannot smuggle in another assignment`() throws {
    let manager = Manager()
    try manager.notifier.status("room\nSTOPPING=1\r\nWATCHDOG=trigger\0")
    #expect(manager.texts == ["STATUS=room STOPPING=1  WATCHDOG=trigger "])
  }

  @Test func `a stored descriptor goes with its name and a removal without one`() throws {
    let manager = Manager()
    try manager.notifier.storeMemory([1, 2, 3], name: "state")
    try manager.notifier.removeDescriptors(named: "state")
    #expect(
      manager.messages == [
        .init(text: "FDSTORE=1\nFDNAME=state\nFDPOLL=0", descriptorCount: 1),
        .init(text: "FDSTOREREMOVE=1\nFDNAME=state"),
      ])
  }

  @Test(arguments: ["", "a:b", "a\nb", "ä", String(repeating: "x", count: 256)])
  func `a descriptor name that the manager would refuse is refused here`(name: String) {
    let manager = Manager()
    let refused = SystemdError(.storeDescriptor, code: EINVAL, context: "name")
    #expect(throws: refused) { try manager.notifier.storeDescriptor(0, name: name) }
    #expect(manager.messages.isEmpty)
  }

  @Test func `a failure names the operation and the errno`() {
    let error = #expect(throws: SystemdError.self) {
      try Manager(result: -ECONNREFUSED).notifier.ready()
    }
    #expect(error?.operation == .notify)
    #expect(error?.code == ECONNREFUSED)
    #expect(error?.description == "notify: Connection refused (errno 111)")
  }
}

@Suite struct MemoryFileTests {
  @Test func `bytes come back and can no longer be changed`() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let descriptor = try MemoryFile.make(bytes, name: "test")
    defer { close(descriptor) }
    #expect(try MemoryFile.read(descriptor: descriptor) == bytes)
    #expect(write(descriptor, "x", 1) == -1)
    #expect(ftruncate(descriptor, 0) == -1)
  }

  @Test func `an empty file and a file over the limit`() throws {
    let empty = try MemoryFile.make([], name: "empty")
    defer { close(empty) }
    #expect(try MemoryFile.read(descriptor: empty) == [])
    let large = try MemoryFile.make([1, 2, 3], name: "large")
    defer { close(large) }
    #expect(throws: SystemdError(.readMemoryFile, code: EFBIG)) {
      try MemoryFile.read(descriptor: large, maximumBytes: 2)
    }
  }
}
