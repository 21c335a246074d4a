import ControlInterface
import FileSystem
import Foundation
import Glibc
import HostScreen
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import Systemd
import Testing
import WireFormats

@Suite(.timeLimit(.minutes(1))) struct HealthTests {
  /// Stands in for the watchdog's thread and runs its checks at times that the test sets.
  private struct Watch {
    var driver: WatchdogDriver
    var stalls = StallWatch(nil)
    let status: DaemonStatus
    let studio: Studio

    init(_ studio: Studio, notifier: ServiceNotifier) {
      let (lane, library) = (studio.lane, studio.library)
      driver = WatchdogDriver(
        threads: [
          WatchedThread(name: "lane 0") { heartbeat in
            lane.eventLoop.execute { heartbeat.beat() }
          },
          WatchedThread(name: "recorder", duty: .storage) { heartbeat in
            library.ping { heartbeat.beat() }
          },
        ], notifier: notifier)
      let recordings = studio.recordings
      status = DaemonStatus(
        version: "1", lostEntries: { 0 }, problems: { recordings.problems })
      self.studio = studio
    }

    mutating func look(at seconds: UInt64) throws -> [String] {
      let (stalled, mentioned) = stalls.update(try driver.tick(now: seconds * 1_000_000_000))
      status.setStalled(stalled)
      studio.recordings.note(stalled: stalled, on: [studio.lane])
      return mentioned.map(\.name)
    }

    var report: StatusReport {
      status.report(
        counts: EventCounts(), rooms: 2, lanes: [studio.lane], hangs: HangFeed())
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool {
      get { value.load(ordering: .relaxed) }
      set { value.store(newValue, ordering: .relaxed) }
    }
  }

  private let event = LiveEvent(timestamp: 0, payload: .header(.viewers(count: 3)))

  @Test
  func
    `a disk that never answers degrades the daemon after ten seconds while other rooms continue`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    let fed = Mutex(0)
    var watch = Watch(
      studio,
      notifier: ServiceNotifier { _ in
        fed.withLock { $0 += 1 }
        return 1
      })
    let other = try #require(RoomName("other"))
    for room in [RoomName.main, other] { _ = try studio.directory.open(room) }
    _ = try await studio.recordings.start(.main, on: studio.lane)
    disk.decide { $0.operation == .sync ? .never : nil }
    let (answers, answer) = AsyncStream.makeStream(of: String?.self)
    let answered = Flag()
    studio.lane.post(
      RoomDelivery(
        room: .main, events: [event], clock: .event,
        receipt: DeliveryReceipt { _, failure in
          answered.isSet = true
          answer.yield(failure)
        }))
    await disk.hasCaught()
    for second in 0...25 as ClosedRange<UInt64> {
      let mentioned = try watch.look(at: second)
      #expect(mentioned == (second == 10 || second == 20 ? ["recorder"] : []))
      // The other room applies events but does not acknowledge them, either.
      studio.lane.post(RoomDelivery(room: other, events: [event]))
      #expect(await studio.lane.report(other)?.counters.received == Int(second) + 1)
      // The lane answers its ping before it handles this.
      await withCheckedContinuation { continuation in
        studio.lane.eventLoop.execute { continuation.resume() }
      }
      let report = watch.report
      #expect(report.health == (second < 10 ? .ok : .degraded))
      #expect(report.problems?.map(\.part) == (second < 10 ? nil : ["recorder"]))
      let recorder = await studio.lane.report(.main)?.features.recorder?.own
      #expect(recorder?.failure == (second < 10 ? nil : "the disk does not respond"))
      #expect(recorder?.state == .recording)
    }
    let problem = try #require(watch.report.problems?.first)
    #expect(problem.text.contains("waits for the disk"))
    #expect(problem.text.contains("25 s"))
    #expect(fed.withLock { $0 } == 0, "the watchdog is no longer fed")
    #expect(!answered.isSet, "only events on disk are acknowledged")
    disk.decide { _ in nil }
    disk.release()
    for await failure in answers {
      #expect(failure == nil)
      break
    }
    // The pings of the lanes were sent earlier, so the answers have arrived by now.
    await studio.library.settle()
    #expect(try watch.look(at: 26) == [])
    #expect(watch.report.health == .ok)
    // The lane receives the change as a message.
    while await studio.lane.report(.main)?.features.recorder?.own?.failure != nil {}
    #expect(fed.withLock { $0 } == 1)
    try await studio.end()
  }

  @Test func `the daemon reports failing health while a lane makes no progress`() {
    let status = DaemonStatus(version: "1", lostEntries: { 0 })
    status.setStalled([.init(name: "lane 1", nanoseconds: 8_000_000_000)])
    let report = status.report(counts: EventCounts(), rooms: 0, lanes: [], hangs: HangFeed())
    #expect(report.health == .failing)
    #expect(report.problems?.map(\.part) == ["lane 1"])
    status.setStalled([])
    let after = status.report(counts: EventCounts(), rooms: 0, lanes: [], hangs: HangFeed())
    #expect(after.health == .ok && after.problems == nil)
  }

  @Test func `a failed recording degrades the daemon until the room records again or is closed`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    let watch = Watch(studio, notifier: ServiceNotifier { _ in 1 })
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    disk.decide { $0.operation == .write && $0.path.contains("/main-") ? .error(EIO) : nil }
    #expect(await studio.sendRecorded([event], to: .main).failure == nil)
    while watch.report.health == .ok {}
    let problem = try #require(watch.report.problems?.first)
    #expect(watch.report.health == .degraded)
    #expect(problem.part == "recording" && problem.room == "main")
    #expect(problem.text.contains("Input/output error"))
    disk.decide { _ in nil }
    _ = try? await studio.recordings.start(.main, on: studio.lane)
    while await studio.lane.report(.main)?.features.recorder?.state != .recording {}
    #expect(watch.report.health == .ok)
    _ = try await studio.recordings.stop(.main, on: studio.lane)
    try await studio.end()
  }

  @Test func `a thread that makes no progress is logged again at regular intervals`() {
    var watch = StallWatch(patience: 5)
    func silent(_ nanoseconds: UInt64) -> [WatchdogDriver.SilentThread] {
      [.init(name: "lane 0", nanoseconds: nanoseconds)]
    }
    #expect(watch.update(silent(4)).stalled == [])
    #expect(watch.update(silent(5)).mentioned == silent(5))
    #expect(watch.update(silent(9)).stalled == silent(9))
    #expect(watch.update(silent(9)).mentioned == [])
    #expect(watch.update(silent(11)).mentioned == silent(11))
    #expect(watch.update([]).stalled == [])
    #expect(watch.update(silent(6)).mentioned == silent(6))
    #expect(StallWatch(nil).patience == 10_000_000_000)
    #expect(StallWatch(WatchdogInterval(microseconds: 2_000_000)).patience == 500_000_000)
  }
}
