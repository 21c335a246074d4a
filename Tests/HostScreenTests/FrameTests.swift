import ChatFeature
import Composable
import ComposableTesting
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import Testing
import Throttling
import ViewGraph
import WaitingRoomFeature

/// Tests when a screen requests its next frame.
@Suite struct FrameTests {
  private func makeScreen() -> HostScreen {
    HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: StillClock())
  }

  @Test func `a change by an effect requests a frame, just as a change by an event does`() {
    let screen = makeScreen()
    #expect(screen.nextFrame == nil)
    // An effect sends its action directly to the store.
    screen.store.send(.header(.titleChanged("Evening show")))
    let due = screen.nextFrame
    #expect(due == FrameGrid().frame(after: .origin))
    screen.drawFrame(at: due ?? .origin)
    #expect(screen.nextFrame == nil)
    #expect(screen.views.statistics["HeaderView"]?.evaluations == 2)
  }

  /// A clock that advances by a second with each evaluation.
  private final class SlowClock: EvaluationClock {
    private(set) var now: UInt64 = 0
    func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) { now += 1_000_000_000 }
  }

  @Test func `the cost of the first frame does not widen an interval`() {
    let screen = HostScreen(lane: DirectLane(), framesPerSecond: 60, clock: SlowClock())
    let start = Instant.origin + .seconds(60)
    let message = ChatMessage(id: "m", userID: "u", userName: "Ann", text: "hi")
    func receive(at now: Instant) -> Instant? {
      screen.receive(LiveEvent(timestamp: 5, payload: .chat(.message(message))), at: now)
      screen.reduce()
      return screen.nextFrame
    }
    #expect(receive(at: start) == FrameGrid().frame(atOrAfter: start + ThrottlePolicies.frame))
    // The cost of a later frame widens the interval.
    screen.drawFrame(at: start + .seconds(1))
    let later = start + .milliseconds(1_300)
    #expect(receive(at: later) == FrameGrid().frame(atOrAfter: later + .milliseconds(100)))
  }

  @Test func `rejected events do not advance the time of the screen`() {
    let screen = makeScreen()
    func slider(_ value: Double, at timestamp: Timestamp) -> LiveEvent {
      LiveEvent(
        timestamp: timestamp,
        payload: .control(.slider(Slider(control: "gain", phase: .end, value: value))))
    }
    screen.receive(slider(0.5, at: 1_000), at: .origin)
    screen.receive(slider(7, at: 3_600_000), at: .origin)
    screen.reduce()
    #expect(screen.eventTime(at: .origin) == 1_000)
    #expect(!screen.perform(slider(7, at: 3_600_000), at: .origin))
    #expect(screen.eventTime(at: .origin) == 1_000)
  }

  @Test func `a host action is reduced immediately and does not count as an event`() {
    let screen = makeScreen()
    let message = ChatMessage(id: "m", userID: "u", userName: "Ann", text: "hi")
    screen.receive(LiveEvent(timestamp: 5, payload: .chat(.message(message))), at: .origin)
    screen.reduce()
    #expect(screen.counts.pending == 1)
    #expect(screen.perform(LiveEvent(timestamp: 5, payload: .chat(.scroll(.back))), at: .origin))
    #expect(screen.store.state.chat?.total == 1, "what came before is not overtaken")
    #expect(screen.store.state.chat?.readUpTo == 1)
    #expect(screen.counts.received == 1 && screen.counts.applied == 1)
    #expect(screen.counts.isConserved)
    let beyond = LiveEvent(timestamp: 5, payload: .control(.set(control: "zoom", value: 2)))
    #expect(!screen.perform(beyond, at: .origin), "refused")
    #expect(screen.counts.rejected == 0 && screen.counts.isConserved)
  }

  @Test func `a countdown is drawn once per second until it ends`() {
    let screen = makeScreen()
    let event = LiveEvent(timestamp: 1_000, payload: .waitingRoom(.schedule(startsAt: 4_000)))
    screen.receive(event, at: .origin)
    screen.reduce()
    var seconds: [Int?] = []
    var frames = 0
    while let due = screen.nextFrame, frames < 100 {
      screen.drawFrame(at: due)
      seconds.append(screen.store.state.waitingRoom?.secondsLeft)
      frames += 1
    }
    #expect(seconds == [3, 2, 1, 0])
  }
}
