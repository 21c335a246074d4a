import Rooms
import Synchronization
import Systemd
import Testing

@Suite struct LongWorkTests {
  private final class Manager: Sendable {
    let messages = Mutex<[String]>([])
    let left = Mutex(0)

    var notifier: ServiceNotifier {
      ServiceNotifier { message in
        self.messages.withLock { $0.append(message) }
        return 1
      }
    }

    func work() -> LongWork {
      LongWork(
        "stopping", notifier: notifier, unit: "events", left: { self.left.withLock { $0 } })
    }

    var told: [String] { messages.withLock { $0 } }
  }

  @Test func `each step of a long start is reported and requests more time from systemd`() async {
    let manager = Manager()
    let work = manager.work()
    let result = await work.step("drawing the last frames") { 5 }
    await work.step("writing recordings") {}
    #expect(result == 5)
    #expect(
      manager.told == [
        "STATUS=stopping: drawing the last frames", "EXTEND_TIMEOUT_USEC=15000000",
        "STATUS=stopping: writing recordings", "EXTEND_TIMEOUT_USEC=15000000",
      ])
  }

  @Test func `more time is requested from systemd only while there is progress`() async {
    let manager = Manager()
    let work = manager.work()
    manager.left.withLock { $0 = 9 }
    await work.step("writing recordings") {
      work.report()
      #expect(manager.told.count == 2, "there was no progress since")
      manager.left.withLock { $0 = 4 }
      work.report()
    }
    #expect(
      manager.told == [
        "STATUS=stopping: writing recordings, 9 events left", "EXTEND_TIMEOUT_USEC=15000000",
        "STATUS=stopping: writing recordings, 4 events left", "EXTEND_TIMEOUT_USEC=15000000",
      ])
  }
}
