import Glibc
import SystemSupport
import Testing

@Suite struct WakeSignalTests {
  @Test func `several raises of a signal before a wait count as one`() throws {
    let signal = try WakeSignal()
    signal.raise()
    signal.raise()
    #expect(signal.wait(nanoseconds: nil))
    #expect(!signal.wait(nanoseconds: 0))
  }

  @Test func `the signal's descriptor is readable until the signal is reset`() throws {
    let signal = try WakeSignal()
    func isReadable() -> Bool {
      var waited = pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&waited, 1, 0) == 1
    }
    #expect(!isReadable())
    signal.raise()
    #expect(isReadable())
    #expect(isReadable())
    #expect(signal.wait(nanoseconds: 0))
    #expect(!isReadable())
  }

  @Test func `raising the signal on another thread ends a wait`() throws {
    let signal = try WakeSignal()
    try ServiceThread.start(name: "a name longer than the kernel keeps") { signal.raise() }
    #expect(signal.wait(nanoseconds: 60_000_000_000))
  }

  @Test func `the monotonic clock does not decrease`() {
    let first = MonotonicClock.nanoseconds()
    #expect(MonotonicClock.nanoseconds() >= first)
  }

  @Test func `the text of a system error names the operation, its object and the reason`() {
    let error = SystemError(.startThread, code: -EAGAIN, context: "journal")
    #expect(error.code == EAGAIN)
    #expect(
      error.description == "start thread journal: Resource temporarily unavailable (errno 11)")
  }
}
