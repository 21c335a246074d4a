import Composable
import Foundation
import HostScreen
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Rooms
import Synchronization
import Testing
import ViewGraph
import WireFormats

/// The detector determines from samples which activity held a lane.
@Suite(.timeLimit(.minutes(1)))
struct HangDetectorTests {
  private func turn(
    _ number: UInt64, milliseconds: UInt64, _ times: SchedulerTimes? = nil
  ) -> TurnMeter.LongTurn {
    TurnMeter.LongTurn(
      number: number, start: 1, nanoseconds: milliseconds * 1_000_000, last: nil, times: times)
  }

  private func label(_ work: LaneActivity.Work) -> LaneActivity.Label {
    LaneActivity.Label(room: .main, work: work)
  }

  @Test func `a long turn is attributed to the activity that most samples found`() {
    var detector = HangDetector()
    detector.sample(turn: 4, activity: label(.action("stream")), isAsleep: nil)
    for _ in 0..<3 { detector.sample(turn: 4, activity: label(.view("ChatView")), isAsleep: nil) }
    detector.sample(turn: 4, activity: label(.report), isAsleep: nil)
    #expect(
      detector.finish(turn(4, milliseconds: 300)).holder == label(.view("ChatView")))
  }

  @Test func `samples of an activity that were taken in another turn are ignored`() {
    var detector = HangDetector()
    for _ in 0..<9 { detector.sample(turn: 3, activity: label(.action("stream")), isAsleep: nil) }
    detector.sample(turn: 4, activity: label(.view("ChatView")), isAsleep: nil)
    #expect(
      detector.finish(turn(4, milliseconds: 300)).holder == label(.view("ChatView")))
    #expect(detector.finish(turn(5, milliseconds: 300)).holder == nil)
  }

  /// The times that the lane ran and waited during a turn of 400 ms, whether its thread was sampled
  /// asleep, the expected reason, and the expected waiting time.
  static let spendings:
    [(ran: UInt64, waited: UInt64, asleep: Bool?, reason: HangDetector.Reason, kept: UInt64)] = [
      (390, 5, nil, .busy, 5), (210, 180, nil, .busy, 180), (5, 5, nil, .blocked, 5),
      (100, 80, nil, .blocked, 80), (100, 300, nil, .descheduled, 300),
      (0, 400, nil, .descheduled, 400),
      (5, 5, true, .blocked, 5), (100, 80, true, .blocked, 80),
      // The kernel of a virtual machine accounts for none of this time, and the thread was not
      // asleep: another machine ran.
      (5, 5, false, .descheduled, 395), (100, 80, false, .descheduled, 300),
      (250, 0, false, .busy, 150),
    ]

  @Test(arguments: spendings)
  func `the detector distinguishes computing, blocked and descheduled lanes`(
    ran: UInt64, waited: UInt64, asleep: Bool?, reason: HangDetector.Reason, kept: UInt64
  ) {
    var detector = HangDetector()
    detector.sample(turn: 7, activity: label(.action("stream")), isAsleep: asleep)
    let finding = detector.finish(
      turn(7, milliseconds: 400, .milliseconds(ran: ran, waited: waited)))
    #expect(finding.reason == reason)
    #expect(finding.times == .milliseconds(ran: ran, waited: kept))
  }

  @Test func `a blocked thread is reported as asleep, and a computing thread is not`() async throws
  {
    let pipe = Pipe()
    let thread = AsyncStream<pid_t>.makeStream()
    let reader = Thread {
      thread.continuation.yield(SchedulerTimes.currentThread())
      _ = pipe.fileHandleForReading.readData(ofLength: 1)
    }
    reader.start()
    var threads = thread.stream.makeAsyncIterator()
    let number = try #require(await threads.next())
    while SchedulerTimes.isAsleep(thread: number) != true { await Task.yield() }
    try pipe.fileHandleForWriting.close()
    #expect(SchedulerTimes.isAsleep(thread: SchedulerTimes.currentThread()) == false)
    #expect(SchedulerTimes.isAsleep(thread: -1) == nil)
  }

  @Test func `the kernel reports growing times for a thread`() throws {
    let thread = SchedulerTimes.currentThread()
    let before = try #require(SchedulerTimes.of(thread: thread))
    var sum = 0
    while SchedulerTimes.of(thread: thread)?.ran == before.ran { sum &+= 1 }
    #expect(try #require(SchedulerTimes.of(thread: thread)).ran > before.ran)
    #expect(SchedulerTimes.of(thread: -1) == nil)
    let mine = try #require(SchedulerTimes.ofCurrentThread())
    #expect(mine.ran > before.ran)
  }
}

extension SchedulerTimes {
  fileprivate static func milliseconds(ran: UInt64, waited: UInt64) -> SchedulerTimes {
    SchedulerTimes(ran: ran * 1_000_000, waited: waited * 1_000_000)
  }
}

/// The turn meter of a lane, on a clock that the test controls.
struct TurnMeterTests {
  private final class Hand: Sendable {
    let time = Atomic<UInt64>(1)
    let ran = Atomic<UInt64>(0)
    func advance(milliseconds: UInt64) {
      time.add(milliseconds * 1_000_000, ordering: .relaxed)
    }
    func run(milliseconds: UInt64) {
      ran.add(milliseconds * 1_000_000, ordering: .relaxed)
      advance(milliseconds: milliseconds)
    }
  }

  private let hand = Hand()
  private var meter: TurnMeter {
    TurnMeter(times: { [hand] in
      let ran = hand.ran.load(ordering: .relaxed)
      return SchedulerTimes(ran: ran, waited: hand.time.load(ordering: .relaxed) - 1 - ran)
    }) { [hand] in hand.time.load(ordering: .relaxed) }
  }

  @Test func `only turns of at least 250 ms are reported as hangs, and each is reported once`() {
    let meter = meter
    for milliseconds: UInt64 in [3, 249, 250, 800] {
      meter.measure { hand.advance(milliseconds: milliseconds) }
    }
    #expect(meter.removeLongTurns().map(\.nanoseconds) == [250_000_000, 800_000_000])
    #expect(meter.removeLongTurns() == [])
    #expect(meter.longestNanoseconds == 800_000_000)
    #expect(meter.count == 4)
  }

  @Test func `thread times from before and after a turn are not attributed to the turn`() {
    let meter = meter
    // The thread computes until the turn begins, has no processor for most of the turn, and then
    // computes again.
    meter.measure { hand.run(milliseconds: 240) }
    hand.run(milliseconds: 300)
    meter.measure {
      hand.run(milliseconds: 10)
      hand.advance(milliseconds: 390)
    }
    meter.measure { hand.run(milliseconds: 240) }
    #expect(meter.removeLongTurns().map(\.times) == [.milliseconds(ran: 10, waited: 390)])
  }

  @Test func `thread times are read again when they are 20 ms old`() {
    let meter = meter
    meter.measure { hand.run(milliseconds: 19) }
    meter.measure { hand.advance(milliseconds: 300) }
    meter.measure { hand.run(milliseconds: 20) }
    meter.measure { hand.advance(milliseconds: 300) }
    #expect(
      meter.removeLongTurns().map(\.times) == [
        .milliseconds(ran: 19, waited: 300), .milliseconds(ran: 0, waited: 300),
      ])
  }

  @Test func `another thread can read the current turn and its activity`() {
    let meter = meter
    #expect(meter.current == nil)
    meter.measure {
      meter.activity.begin(.view("ChatView"), in: .main)
      #expect(meter.current?.number == 0)
      #expect(
        meter.activity.present == LaneActivity.Label(room: .main, work: .view("ChatView")))
    }
    #expect(meter.current == nil)
    #expect(meter.activity.present == nil)
  }

  @Test func `a hang during an effect names the effect`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let meter = meter
    let hand = hand
    let lane = EventLoopLane(loop, meter: meter, room: .main)
    let detector = Mutex(HangDetector())
    await withCheckedContinuation { continuation in
      loop.execute {
        // Created and used only on the event loop.
        nonisolated(unsafe) let store = Store(initialState: Blocking.State(), lane: lane) {
          Blocking {
            hand.advance(milliseconds: 400)
            // Takes a sample here. In the daemon, another thread samples periodically.
            detector.withLock {
              $0.sample(
                turn: meter.current?.number, activity: meter.activity.present, isAsleep: nil)
            }
            hand.advance(milliseconds: 400)
          }
        }
        store.send(.begin)
        // The store must outlive the turn of the effect, which is the next turn of the loop.
        loop.execute {
          withExtendedLifetime(store) {}
          continuation.resume()
        }
      }
    }
    let turn = try #require(meter.removeLongTurns().first)
    let finding = detector.withLock { $0.finish(turn) }
    #expect(HangClass(nanoseconds: finding.turn.nanoseconds) == .hang)
    #expect(finding.holder == LaneActivity.Label(room: .main, work: .effect("block")))
    try await group.shutdownGracefully()
  }
}

/// An effect on a lane is named each time it resumes.
struct ResumedEffectTests {
  @Test func `a hang of an effect that was suspended before still names the effect`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let meter = TurnMeter { 1 }
    let seen = Mutex<[LaneActivity.Label?]>([])
    await withCheckedContinuation { continuation in
      loop.execute {
        let store = Store(
          initialState: Blocking.State(), lane: EventLoopLane(loop, meter: meter, room: .main)
        ) {
          Reduce<Blocking.State, Blocking.Action> { _, _ in
            .run(name: "sleeper") { _ in
              for _ in 0..<3 {
                seen.withLock { $0.append(meter.activity.present) }
                await Task.yield()
              }
              continuation.resume()
            }
          }
        }
        // The effect continues without its store.
        store.send(.begin)
      }
    }
    let label = LaneActivity.Label(room: .main, work: .effect("sleeper"))
    #expect(seen.withLock { $0 } == [label, label, label])
    try await group.shutdownGracefully()
  }
}

/// A reducer whose effect runs the given closure on the lane.
@Reducer
private struct Blocking {
  @ObservableState
  struct State { var count: Int = 0 }
  enum Action: Sendable { case begin }
  let work: @Sendable () -> Void

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    .run(name: "block") { [work] _ in work() }
  }
}
