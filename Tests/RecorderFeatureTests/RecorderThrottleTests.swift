import LiveEvents
import RateLimiting
import RecorderFeature
import Testing
import Throttling

@Suite struct RecorderThrottleTests {
  private typealias Output = ThrottleOutput<RecorderFeature.Action>

  @Test func `a million progress steps become at most a hundred actions, and the last is exact`() {
    var throttle = RecorderThrottle()
    var output = Output()
    let steps = 1_000_000
    for step in 0...steps {
      let now = Instant(nanoseconds: Int64(step) * 10_000)
      throttle.receive(progress(step, of: steps), timestamp: 0, at: now, into: &output)
    }
    #expect(output.actions.count <= 100)
    #expect(output.actions.last == .progressed(reading(steps, of: steps)))
    #expect(throttle.pending == 0)
    #expect(output.applied + output.coalesced == steps + 1)
  }

  @Test func `progress without a total is delivered once per second, including the last report`() {
    var throttle = RecorderThrottle()
    var output = Output()
    for step in 0..<50 {
      let now = Instant(nanoseconds: Int64(step) * 100_000_000)
      throttle.wake(at: now, into: &output)
      throttle.receive(progress(step, of: nil), timestamp: 0, at: now, into: &output)
    }
    #expect(output.actions.count == 5)
    throttle.wake(at: Instant(nanoseconds: 6_000_000_000), into: &output)
    #expect(output.actions.last == .progressed(reading(49, of: nil)))
    #expect(output.applied + output.coalesced == 50)
  }

  @Test func `a recorder's state does not overtake earlier progress`() {
    var throttle = RecorderThrottle()
    var output = Output()
    throttle.receive(.state(.recording), timestamp: 0, at: .origin, into: &output)
    throttle.receive(progress(500, of: 1_000), timestamp: 0, at: .origin, into: &output)
    throttle.receive(progress(501, of: 1_000), timestamp: 0, at: .origin, into: &output)
    #expect(throttle.pending == 1)
    throttle.receive(.state(.stopping), timestamp: 0, at: .origin, into: &output)
    #expect(
      output.actions == [
        .stateChanged(.recording), .progressed(reading(500, of: 1_000)),
        .progressed(reading(501, of: 1_000)), .stateChanged(.stopping),
      ])
    #expect(throttle.pending == 0)
  }

  @Test func `the progress of a new recording starts from the beginning`() {
    var throttle = RecorderThrottle()
    var output = Output()
    throttle.receive(progress(90, of: 100), timestamp: 0, at: .origin, into: &output)
    throttle.receive(.state(.starting), timestamp: 0, at: .origin, into: &output)
    output.actions = []
    throttle.receive(progress(2, of: 100), timestamp: 0, at: .origin, into: &output)
    #expect(output.actions == [.progressed(reading(2, of: 100))])
  }

  private func reading(_ done: Int, of total: Int?) -> RecorderProgress {
    RecorderProgress(bytes: done * 10, durationMilliseconds: done, done: done, total: total)
  }

  private func progress(_ done: Int, of total: Int?) -> RecorderEvent {
    .progress(reading(done, of: total))
  }
}
