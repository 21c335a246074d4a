import Composable
import HostScreen
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Synchronization
import Testing
import WireFormats

/// What held a lane, found from looks at it.
struct HangDetectorTests {
  private func turn(_ number: UInt64, milliseconds: UInt64) -> TurnMeter.LongTurn {
    TurnMeter.LongTurn(
      number: number, start: 1, nanoseconds: milliseconds * 1_000_000, last: nil)
  }

  private func label(_ work: LaneActivity.Work) -> LaneActivity.Label {
    LaneActivity.Label(room: .main, work: work)
  }

  private func times(ran: UInt64, waited: UInt64) -> SchedulerTimes {
    SchedulerTimes(ran: ran * 1_000_000, waited: waited * 1_000_000)
  }

  @Test func `the activity seen most often is what held the lane`() {
    var detector = HangDetector()
    detector.sample(turn: 4, activity: label(.action("stream")), times: nil)
    for _ in 0..<3 { detector.sample(turn: 4, activity: label(.view("ChatView")), times: nil) }
    detector.sample(turn: 4, activity: label(.report), times: nil)
    #expect(
      detector.finish(turn(4, milliseconds: 300), times: nil).holder == label(.view("ChatView")))
  }

  @Test func `activities seen in another turn do not count`() {
    var detector = HangDetector()
    for _ in 0..<9 { detector.sample(turn: 3, activity: label(.action("stream")), times: nil) }
    detector.sample(turn: 4, activity: label(.view("ChatView")), times: nil)
    #expect(
      detector.finish(turn(4, milliseconds: 300), times: nil).holder == label(.view("ChatView")))
    #expect(detector.finish(turn(5, milliseconds: 300), times: nil).holder == nil)
  }

  /// How long the lane ran and waited during a turn of 400 ms, and what that means.
  static let spendings: [(ran: UInt64, waited: UInt64, reason: HangDetector.Reason)] = [
    (390, 5, .busy), (210, 180, .busy), (5, 5, .blocked), (100, 80, .blocked),
    (100, 300, .descheduled), (0, 400, .descheduled),
  ]

  @Test(arguments: spendings)
  func `a lane that computes, waits or lacks a processor is recognised as such`(
    ran: UInt64, waited: UInt64, reason: HangDetector.Reason
  ) {
    var detector = HangDetector()
    detector.sample(turn: nil, activity: nil, times: times(ran: 1_000, waited: 50))
    detector.sample(
      turn: 7, activity: label(.action("stream")),
      times: times(ran: 1_000 + ran / 2, waited: 50 + waited / 2))
    let finding = detector.finish(
      turn(7, milliseconds: 400), times: times(ran: 1_000 + ran, waited: 50 + waited))
    #expect(finding.reason == reason)
    #expect(finding.times == times(ran: ran, waited: waited))
  }

  @Test func `the kernel reports the times of a thread, which grow`() throws {
    let thread = SchedulerTimes.currentThread()
    let before = try #require(SchedulerTimes.of(thread: thread))
    var sum = 0
    while SchedulerTimes.of(thread: thread)?.ran == before.ran { sum &+= 1 }
    #expect(try #require(SchedulerTimes.of(thread: thread)).ran > before.ran)
    #expect(SchedulerTimes.of(thread: -1) == nil)
  }
}

/// The meter of a lane, on a clock that is set by hand.
struct TurnMeterTests {
  private final class Hand: Sendable {
    let time = Atomic<UInt64>(1)
    func advance(milliseconds: UInt64) {
      time.add(milliseconds * 1_000_000, ordering: .relaxed)
    }
  }

  private let hand = Hand()
  private var meter: TurnMeter {
    TurnMeter { [hand] in hand.time.load(ordering: .relaxed) }
  }

  @Test func `only turns of 250 ms or more are reported, each once`() {
    let meter = meter
    for milliseconds: UInt64 in [3, 249, 250, 800] {
      meter.measure { hand.advance(milliseconds: milliseconds) }
    }
    #expect(meter.takeLongTurns().map(\.nanoseconds) == [250_000_000, 800_000_000])
    #expect(meter.takeLongTurns() == [])
    #expect(meter.longestNanoseconds == 800_000_000)
    #expect(meter.count == 4)
  }

  @Test func `a turn in progress is visible from outside, with its activity`() {
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

  @Test func `an effect that holds its lane is named`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let meter = meter
    let hand = hand
    let lane = EventLoopLane(loop, meter: meter, room: .main)
    let detector = Mutex(HangDetector())
    await withCheckedContinuation { continuation in
      loop.execute {
        // Made and used on the loop alone.
        nonisolated(unsafe) let store = Store(initialState: Blocking.State(), lane: lane) {
          Blocking {
            hand.advance(milliseconds: 400)
            // Another thread would look now and then; here it is done in between.
            detector.withLock {
              $0.sample(
                turn: meter.current?.number, activity: meter.activity.present, times: nil)
            }
            hand.advance(milliseconds: 400)
          }
        }
        store.send(.begin)
        // The store must outlive the effect's turn, which is the next one of the loop.
        loop.execute {
          withExtendedLifetime(store) {}
          continuation.resume()
        }
      }
    }
    let turn = try #require(meter.takeLongTurns().first)
    let finding = detector.withLock { $0.finish(turn, times: nil) }
    #expect(HangClass(nanoseconds: finding.turn.nanoseconds) == .hang)
    #expect(finding.holder == LaneActivity.Label(room: .main, work: .effect("block")))
    try await group.shutdownGracefully()
  }
}

/// An effect on a lane is named whenever it is resumed.
struct ResumedEffectTests {
  @Test func `an effect that resumes after a wait is still named`() async throws {
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
        // It continues without its store.
        store.send(.begin)
      }
    }
    let label = LaneActivity.Label(room: .main, work: .effect("sleeper"))
    #expect(seen.withLock { $0 } == [label, label, label])
    try await group.shutdownGracefully()
  }
}

/// A reducer whose effect does what it is given, on the lane.
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
