import Composable
import ComposableTesting
import Testing

struct TestClockTests {
  let clock = TestClock()
  let transcript = Transcript()

  /// Sleeps on the clock's lane and records the wake-up.
  @discardableResult
  func sleeper(_ name: String, for seconds: Int) -> Task<Void, Never> {
    Task(executorPreference: clock.lane) { [clock, transcript] in
      do {
        try await clock.sleep(for: .seconds(seconds))
        transcript.add("\(name) at \(clock.now.offset.components.seconds)")
      } catch {
        transcript.add("\(name) cancelled")
      }
    }
  }

  @Test func `sleeping tasks wake at their deadlines, tasks with equal deadlines in order`() {
    sleeper("late", for: 3)
    sleeper("first", for: 2)
    sleeper("second", for: 2)
    clock.advance(by: .seconds(1))
    #expect(transcript.lines == [] && clock.sleeperCount == 3)
    clock.advance(by: .seconds(2))
    #expect(transcript.lines == ["first at 2", "second at 2", "late at 3"])
    #expect(clock.now == TestClock.Instant(offset: .seconds(3)))
  }

  @Test func `a sleep that is already over does not wait`() {
    sleeper("none", for: 0)
    clock.lane.run()
    #expect(transcript.lines == ["none at 0"])
  }

  @Test func `a sleep ends when its task is cancelled, before or after it began`() {
    let (early, late) = (sleeper("early", for: 1), sleeper("late", for: 1))
    early.cancel()
    clock.lane.run()
    #expect(transcript.lines == ["early cancelled"] && clock.sleeperCount == 1)
    late.cancel()
    clock.lane.run()
    #expect(transcript.lines == ["early cancelled", "late cancelled"] && clock.sleeperCount == 0)
  }

  @Test func `time does not go backwards`() {
    clock.advance(by: .seconds(5))
    clock.advance(to: TestClock.Instant(offset: .seconds(2)))
    #expect(clock.now.offset == .seconds(5))
  }

  @Test func `run stops at its limit for an endless timer`() {
    sleeper("a", for: 4)
    #expect(clock.run())
    #expect(transcript.lines == ["a at 4"] && clock.now.offset == .seconds(4))
    let task = Task(executorPreference: clock.lane) { [clock] in
      while !Task.isCancelled { try? await clock.sleep(for: .seconds(1)) }
    }
    #expect(!clock.run(limit: 10))
    #expect(clock.now.offset == .seconds(14))
    task.cancel()
    clock.lane.run()
    #expect(clock.sleeperCount == 0)
  }

  @Test
  func `a test lane runs jobs in order, including jobs added by jobs, and is not reentrant`() {
    let lane = ManualLane()
    lane.execute { [transcript] in
      transcript.add("1")
      lane.execute { transcript.add("3") }
      transcript.add("inner \(lane.run())")
    }
    lane.execute { [transcript] in transcript.add("2") }
    #expect(!lane.isIdle)
    #expect(lane.run() == 3)
    #expect(transcript.lines == ["1", "inner 0", "2", "3"])
    #expect(lane.isIdle && lane.run() == 0)
  }
}
